// SPDX-License-Identifier: GPL-2.0-only
// Scenarios with FLARE: bits of float sums from seed to seed, jobs that are denied memory, and
// switches that fail. Part of scenario-runner-test.
#include "scenario/scenario-runs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

/// Two racks of six workers, and two switches that may be the root.
constexpr const char* RACKS = R"({
  "topology": {"kind": "spine-leaf", "spines": 2, "leaves": 2, "hostsPerLeaf": 6,
               "hostLink": {"rate": "10Gbps", "delay": "1us"},
               "fabricLink": {"rate": "40Gbps", "delay": "1us"}},
  "transport": {"kind": "roce", "aggregation": {"values": "float", "flare": {"timeout": "100us"}}},
  "fabric": {"loadBalancing": "destination"},
  "job": {"gradient": "100kB", "timeout": "1s", "iterations": 2},
  "scheme": {"kind": "flare", "pipelineChunks": 2}})";

RunResult
Sum(const std::vector<ScenarioOverride>& settings)
{
    auto result = Simulate(settings, RACKS);
    EXPECT_TRUE(result.summary.finished) << result.summary.failure;
    EXPECT_EQ(result.summary.aggregation.wrongSums, 0U);
    return result;
}

TEST(FlareRuns, GiveTheSameBitsByATreeWhateverComesInTheWay)
{
    for (const std::string sum : {"single", "multiple", "tree"})
    {
        std::set<uint64_t> prints;
        for (const auto* loss : {"0", "0.01", "0.02", "0.05"})
        {
            const auto result =
                Sum({{"scheme.sum", fmt::format("\"{}\"", sum)}, {"fabric.lossRate", loss}});
            // Pieces of 50 kB are 49 packets of 1,024 bytes.
            EXPECT_EQ(result.summary.aggregation.checkedSums, 12U * 2 * 2 * 49);
            prints.insert(result.summary.aggregation.sumPrint);
        }
        EXPECT_EQ(prints.size(), sum == "tree" ? 1U : 4U) << sum;
    }
}

TEST(FlareRuns, AJobForWhichThereIsNoMemoryFallsBack)
{
    // One switch of six children: 256 credits, and 7 buffers of 1,024 bytes for a tree.
    const auto denied = Sum({{"topology.leaves", "1"},
                             {"scheme.fallback", R"("ring")"},
                             {"transport.aggregation.switchMemoryBytes", R"("1000kB")"}});
    EXPECT_EQ(denied.summary.fallbacks, 2U);
    EXPECT_EQ(denied.summary.aggregation.checkedSums, 0U);
    const auto single = Sum({{"topology.leaves", "1"},
                             {"scheme.sum", R"("single")"},
                             {"transport.aggregation.switchMemoryBytes", R"("1000kB")"}});
    EXPECT_EQ(single.summary.fallbacks, 0U); // 256 * 2 * 1,024 bytes
}

TEST(FlareRuns, SaysBeforeTheRunWhoIsDenied)
{
    UsePicoseconds();
    const auto checked = CheckRun(
        ResolveRun(ParseScenario(RACKS,
                                 "x.json",
                                 {{"topology.leaves", "1"},
                                  {"transport.aggregation.switchMemoryBytes", R"("1000kB")"}}),
                   0),
        true);
    // Six children: 256 credits, 7 buffers of 1,024 bytes.
    EXPECT_THAT(checked.denials,
                testing::ElementsAre(testing::HasSubstr(
                    "switch leaf0 has 1000000 bytes left of 1000000 for one more aggregation, "
                    "which needs 1835008")));
}

TEST(FlareRuns, OtherSwitchesAggregateWhenOneFailsAtAnyTime)
{
    for (const auto* start : {"0us", "3us", "27us", "61us", "110us"})
    {
        for (const auto* kind : {"switch-down", "aggregator-down"})
        {
            for (const auto* values : {R"("real")", R"("float")"})
            {
                const auto result =
                    Sum({{"transport.aggregation.values", values},
                         {"fabric.lossRate", "0.01"},
                         {"faults",
                          fmt::format(R"([{{"kind": "{}", "switches": ["spine0"], "start": "{}",
                                        "detectionDelay": "30us"}}])",
                                      kind,
                                      start)}});
                EXPECT_EQ(result.summary.aggregation.rebuilds, 1U) << kind << start;
                EXPECT_EQ(result.summary.fallbacks, 0U);
                EXPECT_EQ(result.summary.aggregation.checkedSums, 12U * 2 * 2 * 49);
            }
        }
    }
}

TEST(FlareRuns, FallsBackWhenNoSwitchIsLeft)
{
    const auto result =
        Sum({{"scheme.fallback", R"("ring")"},
             {"transport.aggregation.values", R"("real")"},
             {"topology.spines", "1"},
             {"faults",
              R"([{"kind": "aggregator-down", "switches": ["spine0", "leaf0", "leaf1"],
                                   "start": "20us", "detectionDelay": "30us"}])"}});
    EXPECT_EQ(result.summary.fallbacks, 2U);
}

} // namespace
} // namespace ns3::gradsync
