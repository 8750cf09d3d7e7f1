// SPDX-License-Identifier: GPL-2.0-only
// Scenarios with SHARP: jobs that get a tree and jobs that are denied one, and switches that fail.
// Part of scenario-runner-test.
#include "scenario/scenario-runs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

/// Two jobs that stream through one switch, by links of their own.
constexpr const char* TWO_JOBS = R"({
  "topology": {"kind": "star", "hosts": 8, "hostLink": {"rate": "100Gbps", "delay": "1us"}},
  "transport": {"kind": "roce", "aggregation": {"values": "real", "sharp": {"generation": "quantum"}}},
  "jobs": [
    {"name": "first", "gradient": "1MB", "scheme": {"kind": "sharp"},
     "endpoints": ["host0", "host1", "host2", "host3"]},
    {"name": "second", "gradient": "1MB", "iterations": 3, "scheme": {"kind": "sharp", "fallback": "ring"},
     "endpoints": ["host4", "host5", "host6", "host7"]}
  ]})";

RunResult
Stream(const std::vector<ScenarioOverride>& settings)
{
    auto result = Simulate(settings, TWO_JOBS);
    EXPECT_TRUE(result.summary.finished) << result.summary.failure;
    EXPECT_EQ(result.summary.aggregation.wrongSums, 0U);
    return result;
}

TEST(SharpRuns, TheSecondStreamingJobOnAQuantumSwitchFallsBackUntilTheFirstIsDone)
{
    const auto denied = Stream({});
    const auto alone = Stream({{"jobs.0.scheme", R"("ring")"}});
    const auto ring = Stream({{"jobs.1.scheme", R"("ring")"}});
    ASSERT_LT(GetTimes(denied, 0).at(0), GetTimes(ring, 1).at(0));
    EXPECT_EQ(alone.summary.fallbacks, 0U);
    EXPECT_EQ(denied.summary.fallbacks, 1U);
    EXPECT_EQ(GetTimes(denied, 1).at(0), GetTimes(ring, 1).at(0));
    EXPECT_EQ(GetTimes(denied, 1).at(2), GetTimes(alone, 1).at(2));
    // 1 MB are 489 packets of 2,048 bytes.
    EXPECT_EQ(denied.summary.aggregation.checkedSums, 4U * 489 * (1 + 2));
}

TEST(SharpRuns, SaysBeforeTheRunWhoIsDenied)
{
    UsePicoseconds();
    const auto check = [](const std::vector<ScenarioOverride>& settings) {
        return CheckRun(ResolveRun(ParseScenario(TWO_JOBS, "x.json", settings), 0), true);
    };
    EXPECT_THAT(check({}).denials,
                testing::ElementsAre("second begins without switches that aggregate: switch leaf0 "
                                     "streams for one tree of SHARP at a time, and another job has "
                                     "its lock"));
    EXPECT_THAT(
        [&] {
            check({{"jobs.1.scheme.fallback", R"("none")"}});
        },
        testing::ThrowsMessage<ScenarioError>(
            testing::HasSubstr("second: scheme sharp: switch leaf0 streams for one tree")));
}

TEST(SharpRuns, BothStreamThroughPortsOfTheirOwnOnAQuantum2Switch)
{
    const auto both = Stream({{"transport.aggregation.sharp.generation", R"("quantum-2")"}});
    EXPECT_EQ(both.summary.fallbacks, 0U);
    EXPECT_EQ(GetTimes(both, 0).at(0), GetTimes(both, 1).at(0));
}

TEST(SharpRuns, ALowLatencyTreeNeedsNoLock)
{
    const auto both = Stream({{"jobs.1.scheme.tree", R"("llt")"}});
    EXPECT_EQ(both.summary.fallbacks, 0U);
    EXPECT_GT(GetTimes(both, 1).at(0), GetTimes(both, 0).at(0)); // eight transactions bind
}

TEST(SharpRuns, OtherSwitchesAggregateWhenOneFailsAtAnyTime)
{
    constexpr const char* RACKS = R"({
      "topology": {"kind": "spine-leaf", "spines": 2, "leaves": 2, "hostsPerLeaf": 2,
                   "hostLink": {"rate": "10Gbps", "delay": "1us"},
                   "fabricLink": {"rate": "10Gbps", "delay": "1us"}},
      "transport": {"kind": "roce", "aggregation": {"values": "real", "sharp": {"timeout": "100us"}}},
      "fabric": {"loadBalancing": "destination", "lossRate": 0.01},
      "job": {"gradient": "1MB", "timeout": "1s", "iterations": 2},
      "scheme": {"kind": "sharp", "pipelineChunks": 5}})";
    for (const auto* start : {"0us", "3us", "57us", "211us", "640us", "930us"})
    {
        for (const auto* kind : {"switch-down", "aggregator-down"})
        {
            const auto result =
                Simulate({{"faults",
                           fmt::format(R"([{{"kind": "{}", "switches": ["spine0"], "start": "{}",
                                   "detectionDelay": "30us"}}])",
                                       kind,
                                       start)}},
                         RACKS);
            EXPECT_TRUE(result.summary.finished) << kind << start << result.summary.failure;
            EXPECT_EQ(result.summary.aggregation.wrongSums, 0U);
            EXPECT_EQ(result.summary.aggregation.rebuilds, 1U);
            EXPECT_EQ(result.summary.fallbacks, 0U);
            // 200 kB are 98 packets.
            EXPECT_EQ(result.summary.aggregation.checkedSums, 2U * 5 * 4 * 98);
        }
    }
}

} // namespace
} // namespace ns3::gradsync
