// SPDX-License-Identifier: GPL-2.0-only
#include "unit/study/scenario-test-support.h"

#include "ns3/process-pool.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>

namespace ns3::gradsync
{

namespace
{

/// What the listener of a pool was told.
struct Log
{
    std::map<uint32_t, TaskOutcome> outcomes;
    std::map<uint32_t, uint64_t> progress;

    ProcessPool::Listener MakeListener()
    {
        return {[this](uint32_t task, uint64_t value) { progress[task] = value; },
                [this](uint32_t task, const TaskOutcome& outcome) { outcomes[task] = outcome; },
                [] {}};
    }
};

TEST(ProcessPool, RunsEveryTaskAndPassesProgressOn)
{
    Log log;
    ProcessPool pool(2);
    EXPECT_TRUE(pool.Run(
        {3, 1, 4},
        [](uint32_t task, const auto& report) { report(task * 10); },
        log.MakeListener()));
    EXPECT_EQ(log.outcomes.size(), 3U);
    EXPECT_TRUE(log.outcomes[4].ok);
    EXPECT_EQ(log.progress, (std::map<uint32_t, uint64_t>{{1, 10}, {3, 30}, {4, 40}}));
}

TEST(ProcessPool, KeepsFailuresAndCrashesApartFromTheRest)
{
    Log log;
    ProcessPool pool(3);
    const auto task = [](uint32_t id, const auto& report) {
        report(1);
        if (id == 0)
        {
            throw std::runtime_error("no luck");
        }
        if (id == 1)
        {
            // A crash that no sanitizer turns into something else.
            kill(getpid(), SIGKILL);
        }
    };
    EXPECT_TRUE(pool.Run({0, 1, 2}, task, log.MakeListener()));
    EXPECT_FALSE(log.outcomes[0].ok);
    EXPECT_EQ(log.outcomes[0].problem, "no luck");
    EXPECT_FALSE(log.outcomes[1].ok);
    EXPECT_THAT(log.outcomes[1].problem, testing::HasSubstr("crashed: signal 9"));
    EXPECT_TRUE(log.outcomes[2].ok);
}

TEST(ProcessPool, StopsOnAnInterrupt)
{
    Log log;
    ProcessPool pool(1);
    const auto task = [](uint32_t id, const auto& report) {
        report(id);
        pause();
    };
    auto listener = log.MakeListener();
    listener.onProgress = [](uint32_t, uint64_t) { kill(getpid(), SIGTERM); };
    EXPECT_FALSE(pool.Run({7, 8}, task, listener));
    EXPECT_TRUE(log.outcomes.empty());
}

/// Waits for a file to be there. \throws std::runtime_error after some seconds
void
AwaitFile(const std::filesystem::path& path)
{
    for (int tries = 0; !std::filesystem::exists(path); ++tries)
    {
        if (tries == 1000)
        {
            throw std::runtime_error("nobody makes " + path.string());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

/// Each task that has computed waits for the next one to begin, or to the end: one at a time would
/// never end.
TEST(ProcessPool, ATaskStartsWhileTheOneBeforeWrites)
{
    static constexpr uint32_t LAST = 5;
    const TemporaryFolder folder;
    Log log;
    ProcessPool pool(1);
    const auto task = [&folder](uint32_t id, const auto& report) {
        report(id);
        std::ofstream(folder.Get() / std::to_string(id)) << "begun";
        report.EndComputing();
        report(id + 1);
        AwaitFile(folder.Get() / std::to_string(std::min(id + 1, LAST)));
    };
    EXPECT_TRUE(pool.Run({0, 1, 2, 3, 4, LAST}, task, log.MakeListener()));
    for (uint32_t id = 0; id <= LAST; ++id)
    {
        EXPECT_TRUE(log.outcomes[id].ok) << id << ": " << log.outcomes[id].problem;
        EXPECT_EQ(log.progress[id], id + 1); // what is told after EndComputing comes, too
    }
}

/// As many write as compute, at most: with two that compute, four are there at once.
TEST(ProcessPool, NoMoreTasksWriteThanCompute)
{
    constexpr uint32_t PARALLEL = 2;
    const TemporaryFolder folder;
    Log log;
    ProcessPool pool(PARALLEL);
    const auto task = [&folder](uint32_t id, const auto& report) {
        const auto own = folder.Get() / std::to_string(id);
        std::ofstream(own) << "begun";
        report.EndComputing();
        const std::filesystem::directory_iterator all(folder.Get());
        const auto count = std::distance(begin(all), end(all));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        std::filesystem::remove(own);
        if (count > 2 * PARALLEL)
        {
            throw std::runtime_error(std::to_string(count) + " at a time");
        }
    };
    EXPECT_TRUE(pool.Run({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, task, log.MakeListener()));
    EXPECT_EQ(log.outcomes.size(), 12U);
    for (const auto& [id, outcome] : log.outcomes)
    {
        EXPECT_TRUE(outcome.ok) << id << ": " << outcome.problem;
    }
}

TEST(ProcessPool, KeepsTheProblemOfATaskThatCannotWrite)
{
    Log log;
    ProcessPool pool(1);
    const auto task = [](uint32_t id, const auto& report) {
        report.EndComputing();
        if (id == 0)
        {
            throw std::runtime_error("disk full");
        }
    };
    EXPECT_TRUE(pool.Run({0, 1}, task, log.MakeListener()));
    EXPECT_EQ(log.outcomes[0].problem, "disk full");
    EXPECT_TRUE(log.outcomes[1].ok);
}

} // namespace

} // namespace ns3::gradsync
