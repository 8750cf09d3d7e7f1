// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/process-pool.h"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>
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

} // namespace

} // namespace ns3::gradsync
