// SPDX-License-Identifier: GPL-2.0-only
// What the program writes of runs, killed, damaged or whole.
#include "scenario/program-fixture.h"

#include "ns3/json-document.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace ns3::gradsync::tests
{

namespace
{

using testing::AllOf;
using testing::HasSubstr;

TEST_F(ProgramTest, WritesWholeResults)
{
    const auto outcome = RunScenarioFile(Write("sweep.json", SWEEP));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(
        outcome.out,
        AllOf(HasSubstr("small sweep"), HasSubstr("topology.hostsPerLeaf"), HasSubstr("ok")));
    const auto runs = SplitLines(ReadFile(Out() / "runs.csv"));
    ASSERT_EQ(runs.size(), 5U);
    EXPECT_EQ(
        runs[0],
        "run,topology.hostsPerLeaf,scheme.kind,seed,workers,oversubscription,ict_mean_s,ict_min_s,"
        "ict_max_s,bound_s,times_bound,algbw_bytes_per_s,busbw_bytes_per_s,"
        "cross_rack_bytes,peak_received_bytes,longest_chain,auto_choice,auto_estimate_s,codec_"
        "times,"
        "goodput_bytes,lost_bytes,wire_bytes,dropped_packets,ecn_marked_packets,pfc_pause_s,"
        "retransmitted_packets,retransmitted_bytes,sum_packets,sum_overflows,overflowed_sums,"
        "wrong_sums,sum_relative_error,sum_largest_error,float_packets,"
        "server_packets,sum_print,core_busy_s,core_wait_s,core_queue_max,fallbacks,tree_rebuilds,"
        "iteration_mean_s,computation_s,hidden_s,exposed_s,bubble_s,mfu,samples_per_s,"
        "tokens_per_s,device_memory_bytes,"
        "updates,steps_per_s,staleness_mean,staleness_max,ahead_max,held_s,"
        "packet_hops,events,skipped_iterations,recorded_collectives,wall_s,peak_rss_bytes,"
        "status");
    // Run 3: 3 hosts in each of 2 racks with 2 uplinks of the hosts' rate.
    EXPECT_THAT(runs[4],
                AllOf(testing::StartsWith("3,3,rat,1,6,1.5,0.000"), testing::EndsWith(",ok")));
    // 4 runs of 2 iterations
    EXPECT_EQ(SplitLines(ReadFile(Out() / "iterations.csv")).size(), 1U + 8);
    // Two directions of 4 uplinks and 4 or 6 host links, twice each.
    EXPECT_EQ(SplitLines(ReadFile(Out() / "links.csv")).size(), 1U + 2 * (2 * 8 + 2 * 10));
    EXPECT_THAT(
        ReadFile(Out() / "messages.csv"),
        testing::StartsWith("run,job,iteration,operation,src,dst,bytes,start_s,end_s\n0,job0,0,"));
    const Json manifest = LoadJson(Out() / "manifest.json");
    EXPECT_EQ(manifest["runs"].size(), 4U);
    EXPECT_EQ(manifest["runs"][1]["values"]["scheme.kind"], "rat");
    EXPECT_EQ(manifest["scenario"]["sweep"]["topology.hostsPerLeaf"], Json::parse("[2, 3]"));
    EXPECT_EQ(manifest["program"]["name"], "gradsync");
}

TEST_F(ProgramTest, GivesTheSameBytesWithOneAndTwoProcesses)
{
    const auto file = Write("sweep.json", SWEEP);
    ASSERT_EQ(RunScenarioFile(file, "one", {"--jobs=1"}).code, 0);
    ASSERT_EQ(RunScenarioFile(file, "two", {"--jobs=2"}).code, 0);
    for (const auto* name : {"iterations.csv", "links.csv", "messages.csv"})
    {
        EXPECT_EQ(ReadFile(Out("one") / name), ReadFile(Out("two") / name)) << name;
    }
    EXPECT_EQ(StripWallClock(ReadFile(Out("one") / "runs.csv")),
              StripWallClock(ReadFile(Out("two") / "runs.csv")));
}

TEST_F(ProgramTest, RepeatsOnlyWhatChanged)
{
    const auto file = Write("sweep.json", SWEEP);
    ASSERT_EQ(RunScenarioFile(file).code, 0);
    const auto first = ReadFile(Out() / "runs.csv");
    // Nothing is run again: even the wall-clock columns stay.
    EXPECT_THAT(RunScenarioFile(file).err, HasSubstr("4 of 4 runs are done already"));
    EXPECT_EQ(ReadFile(Out() / "runs.csv"), first);
    // A value in front renumbers the runs, and a title changes nothing.
    EXPECT_THAT(
        RunScenarioFile(file,
                        "results",
                        {"--set", "sweep.topology.hostsPerLeaf=[4, 2]", "--set", "title=other"})
            .err,
        HasSubstr("2 of 4 runs are done already"));
    EXPECT_THAT(SplitLines(ReadFile(Out() / "runs.csv"))[3], testing::StartsWith("2,2,ps,"));
    EXPECT_THAT(RunScenarioFile(file, "results", {"--set=job.gradient=100kB"}).err,
                testing::Not(HasSubstr("done already")));
    EXPECT_THAT(RunScenarioFile(file, "results", {"--set=job.gradient=100kB", "--no-resume"}).err,
                testing::Not(HasSubstr("done already")));
}

/// Twelve runs of some megabytes: long enough to be killed in the middle.
constexpr const char* LONG_SWEEP = R"({
  "topology": {"kind": "star", "hosts": 8, "hostLink": {"rate": "10Gbps"}},
  "job": {"gradient": "4MB", "iterations": 4}, "scheme": "ring",
  "sweep": {"seed": [1, 2, 3, 4, 5, 6], "scheme.kind": ["ps", "ring"]}})";

TEST_F(ProgramTest, GoesOnAfterAKill)
{
    const auto file = Write("long.json", LONG_SWEEP);
    const auto process = Start({"run", file, "--out=" + Out().string(), "--jobs=1"});
    const auto isWhole = [](const std::filesystem::path& path) {
        return std::filesystem::exists(path / "summary.json") && path.filename().string()[0] != '.';
    };
    const auto countWhole = [&] {
        std::error_code none;
        const std::filesystem::directory_iterator runs(Out() / ".runs", none);
        return none ? 0 : std::count_if(begin(runs), end(runs), [&](const auto& entry) {
            return isWhole(entry.path());
        });
    };
    while (countWhole() < 2 && waitpid(process, nullptr, WNOHANG) == 0)
    {
        usleep(1000);
    }
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
    ASSERT_FALSE(std::filesystem::exists(Out() / "runs.csv"))
        << "finished before it could be killed";
    const auto kept = countWhole();
    EXPECT_GE(kept, 2);
    const auto outcome = RunScenarioFile(file, "results", {"--jobs=2"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(fmt::format("{} of 12 runs are done already", kept)));
    ASSERT_EQ(RunScenarioFile(file, "whole", {"--jobs=2"}).code, 0);
    EXPECT_EQ(StripWallClock(ReadFile(Out() / "runs.csv")),
              StripWallClock(ReadFile(Out("whole") / "runs.csv")));
    EXPECT_EQ(ReadFile(Out() / "messages.csv"), ReadFile(Out("whole") / "messages.csv"));
}

TEST_F(ProgramTest, ProgramsThatDoTheSameRunsAtOnceLoseNoRow)
{
    const auto file = Write("sweep.json", SWEEP);
    ASSERT_EQ(RunScenarioFile(file, "whole").code, 0);
    for (int round = 0; round < 12; ++round)
    {
        SCOPED_TRACE(round);
        std::filesystem::remove_all(Out());
        const std::vector<std::string> points{"run",
                                              file,
                                              "--out=" + Out().string(),
                                              "--points=0-3",
                                              "--jobs=2"};
        const auto one = Start(points, "1");
        const auto two = Start(points, "2");
        const auto first = Finish(one, "1");
        const auto second = Finish(two, "2");
        ASSERT_EQ(first.code, 0) << first.err;
        ASSERT_EQ(second.code, 0) << second.err;
        const auto assembled = RunScenarioFile(file, "results", {"--assemble"});
        ASSERT_EQ(assembled.code, 0) << assembled.err;
        EXPECT_EQ(assembled.err, "");
        for (const auto* name : {"iterations.csv", "links.csv", "messages.csv"})
        {
            ASSERT_EQ(ReadFile(Out() / name), ReadFile(Out("whole") / name)) << name;
        }
        ASSERT_EQ(StripWallClock(ReadFile(Out() / "runs.csv")),
                  StripWallClock(ReadFile(Out("whole") / "runs.csv")));
        for (const auto& name : ListNames(Out() / ".runs"))
        {
            EXPECT_FALSE(name.starts_with(".tmp")) << name;
        }
    }
}

TEST_F(ProgramTest, ARunHasFilesForItsRowsAlone)
{
    ASSERT_EQ(RunScenarioFile(Write("sweep.json", SWEEP)).code, 0);
    for (const auto& name : ListNames(Out() / ".runs"))
    {
        if (!name.starts_with("."))
        {
            const auto files = ListNames(Out() / ".runs" / name);
            EXPECT_THAT(files,
                        testing::IsSupersetOf(
                            {"checksums.json", "iterations.csv", "messages.csv", "summary.json"}));
            EXPECT_THAT(files, testing::Not(testing::Contains("faults.csv")));
            for (const auto& file : files)
            {
                EXPECT_GT(std::filesystem::file_size(Out() / ".runs" / name / file), 0U) << file;
            }
        }
    }
    // The result has all tables, those without rows too.
    EXPECT_EQ(SplitLines(ReadFile(Out() / "faults.csv")).size(), 1U);
    EXPECT_GT(SplitLines(ReadFile(Out() / "messages.csv")).size(), 1U);
}

TEST_F(ProgramTest, NamesDamagedRunsAndSimulatesThemAgain)
{
    const auto file = Write("sweep.json", SWEEP);
    ASSERT_EQ(RunScenarioFile(file).code, 0);
    const auto before = StripWallClock(ReadFile(Out() / "runs.csv"));
    const auto iterations = ReadFile(Out() / "iterations.csv");
    const auto findRun = [&](int run) {
        for (const auto& name : ListNames(Out() / ".runs"))
        {
            if (name.starts_with(fmt::format("{}-", run)))
            {
                return Out() / ".runs" / name;
            }
        }
        throw std::runtime_error("no such run");
    };
    const auto flip = [](const std::filesystem::path& path) {
        auto text = ReadFile(path);
        text.at(text.size() / 2) ^= 1;
        std::ofstream(path, std::ios::binary) << text;
    };
    flip(findRun(0) / "iterations.csv");
    std::filesystem::resize_file(findRun(1) / "messages.csv", 20);
    std::filesystem::remove(findRun(2) / "links.csv");
    std::filesystem::resize_file(findRun(3) / "checksums.json", 0);
    const auto again = RunScenarioFile(file);
    EXPECT_EQ(again.code, 0) << again.err;
    for (const auto* said : {"run 0 is damaged and simulated again: \"iterations.csv\"",
                             "run 1 is damaged and simulated again: \"messages.csv\"",
                             "run 2 is damaged and simulated again: \"links.csv\"",
                             "run 3 is damaged and simulated again: checksums.json"})
    {
        EXPECT_THAT(again.err, HasSubstr(said));
    }
    EXPECT_EQ(StripWallClock(ReadFile(Out() / "runs.csv")), before);
    EXPECT_EQ(ReadFile(Out() / "iterations.csv"), iterations);
    // The parts of a sweep do so too.
    flip(findRun(2) / "summary.json");
    const auto prepared = RunScenarioFile(file, "results", {"--prepare"});
    EXPECT_THAT(prepared.err, HasSubstr("run 2 is damaged"));
    EXPECT_EQ(ParseJson(prepared.out, "prepared")[2]["done"], false);
    const auto assembled = RunScenarioFile(file, "results", {"--assemble"});
    EXPECT_EQ(assembled.code, 0) << assembled.err;
    EXPECT_THAT(assembled.err, HasSubstr("run 2 is damaged"));
    EXPECT_EQ(StripWallClock(ReadFile(Out() / "runs.csv")), before);
    EXPECT_THAT(RunScenarioFile(file).err, HasSubstr("4 of 4 runs are done already"));
}

TEST_F(ProgramTest, StopsOnAnInterruptWith130)
{
    const auto file = Write("long.json", LONG_SWEEP);
    const auto process = Start({"run", file, "--out=" + Out().string(), "--jobs=1"});
    // The folder is made after the signals are in hand or before: both must end it. Wait for the
    // first run.
    while (ReadFile(m_folder.Get() / "err").find("run 0") == std::string::npos)
    {
        usleep(1000);
    }
    kill(process, SIGINT);
    const auto outcome = Finish(process);
    EXPECT_EQ(outcome.code, 130);
    EXPECT_THAT(outcome.err, HasSubstr("interrupted"));
    EXPECT_FALSE(std::filesystem::exists(Out() / "runs.csv"));
}

TEST_F(ProgramTest, NamesAnUnfinishedRunAndFinishesTheOthers)
{
    const auto outcome = RunScenarioFile(Write(
        "lossy.json",
        R"({"topology": {"kind": "star", "hosts": 2, "hostLink": {"rate": "10Gbps"}}, "scheme": "ring",
                  "job": {"gradient": "10kB"}, "sweep": {"fabric.lossRate": [1, 0]}})"));
    EXPECT_EQ(outcome.code, 3);
    EXPECT_THAT(outcome.err, HasSubstr("error: run 0 (fabric.lossRate=1) unfinished: "));
    const auto runs = SplitLines(ReadFile(Out() / "runs.csv"));
    ASSERT_EQ(runs.size(), 3U);
    EXPECT_THAT(runs[1], testing::EndsWith(",unfinished"));
    EXPECT_THAT(runs[2], testing::EndsWith(",ok"));
}

} // namespace

} // namespace ns3::gradsync::tests
