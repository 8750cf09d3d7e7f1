// SPDX-License-Identifier: GPL-2.0-only
// Scenarios in which switches that aggregate fail. Part of scenario-runner-test.
#include "scenario/scenario-runs.h"

#include "ns3/result-rows.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

/// Two racks of two, with two spines, of which the first is the root; values are real.
constexpr const char* ADDING_UP = R"({
  "topology": {"kind": "spine-leaf", "spines": 2, "leaves": 2, "hostsPerLeaf": 2,
               "hostLink": {"rate": "10Gbps", "delay": "1us"},
               "fabricLink": {"rate": "10Gbps", "delay": "1us"}},
  "transport": {"kind": "roce", "aggregation": {"values": "real", "atp": {"firstTimeout": "300us"}}},
  "fabric": {"loadBalancing": "destination"},
  "job": {"gradient": "1MB", "timeout": "1s"},
  "scheme": {"kind": "switchml"}})";

/// Switches that do not work as the fault says. \param more further members of the fault
RunResult
SimulateFault(const std::string& kind,
              const std::string& switches,
              const std::string& more,
              std::vector<ScenarioOverride> others = {})
{
    others.push_back(
        {"faults", fmt::format(R"([{{"kind": "{}", "switches": [{}]{}}}])", kind, switches, more)});
    return Simulate(others, ADDING_UP);
}

/// The same of a run that must finish with exact sums.
RunResult
Survive(const std::string& kind,
        const std::string& switches,
        const std::string& more = "",
        const std::vector<ScenarioOverride>& others = {})
{
    auto result = SimulateFault(kind, switches, more, others);
    EXPECT_TRUE(result.summary.finished) << kind << more << ": " << result.summary.failure;
    EXPECT_EQ(result.summary.aggregation.wrongSums, 0U);
    return result;
}

constexpr const char* ALL_SWITCHES = R"("spine0", "spine1", "leaf0", "leaf1")";

std::string
GetFaultRows(const RunResult& result)
{
    std::ostringstream rows;
    WriteFaults(result, rows);
    return rows.str();
}

TEST(AggregationFaults, OtherSwitchesAggregateWhenOneIsDown)
{
    const auto calm = Simulate({}, ADDING_UP);
    // Routes change after 1 ms. By then every packet that was on its way is lost, and all is sent
    // anew by way of the other spine: as long as ever, from then on.
    for (const auto* kind : {"switch-down", "aggregator-down"})
    {
        const auto result = Survive(kind, R"("spine0")");
        EXPECT_EQ(result.duration, MilliSeconds(1) + calm.duration);
        EXPECT_EQ(result.summary.aggregation.rebuilds, 1U);
        EXPECT_EQ(result.summary.fallbacks, 0U);
        EXPECT_THAT(GetFaultRows(result),
                    testing::HasSubstr("0.001000000000,,reaction,job0 by other switches,rebuild,"));
    }
}

TEST(AggregationFaults, AggregatesAboveALeafThatOnlyForwards)
{
    const auto result = Survive("aggregator-down",
                                R"("leaf0")",
                                R"(, "start": "200us")",
                                {{"job.iterations", "2"}});
    EXPECT_EQ(result.summary.aggregation.rebuilds, 1U);
    // 1 MB are 3,907 packets of 256 bytes, which each of four workers checks once.
    EXPECT_EQ(result.summary.aggregation.checkedSums, 2U * 4 * 3907);
}

TEST(AggregationFaults, KeepsSumsExactWheneverASwitchFails)
{
    for (const auto* start : {"0us", "3us", "10us", "57us", "211us", "640us", "930us"})
    {
        for (const auto* kind : {"switch-down", "aggregator-down"})
        {
            const auto result =
                Survive(kind,
                        R"("spine0")",
                        fmt::format(R"(, "start": "{}", "detectionDelay": "30us")", start),
                        {{"fabric.lossRate", "0.01"},
                         {"transport.aggregation.slot.timeout", "100us"},
                         {"scheme.pipelineChunks", "5"}});
            EXPECT_EQ(result.summary.aggregation.rebuilds, 1U);
            EXPECT_EQ(result.summary.aggregation.checkedSums, 5U * 4 * 782);
        }
    }
}

TEST(AggregationFaults, WorkersDoWithoutSwitchesWhenNoneAggregates)
{
    for (const std::string scheme : {"ps", "ring"})
    {
        const auto alone = Simulate({{"scheme", scheme}, {"job.iterations", "2"}}, ADDING_UP);
        const auto result = Survive(
            "aggregator-down",
            ALL_SWITCHES,
            "",
            {{"scheme.kind", "switchml"}, {"scheme.fallback", scheme}, {"job.iterations", "2"}});
        // Jobs know after 1 ms; the next iteration begins without switches.
        ASSERT_EQ(result.iterations.size(), 2U);
        EXPECT_EQ(result.iterations[0].end, MilliSeconds(1) + alone.iterations.at(0).end);
        EXPECT_EQ(result.duration, MilliSeconds(1) + alone.duration);
        EXPECT_EQ(result.summary.fallbacks, 2U);
        EXPECT_THAT(GetFaultRows(result),
                    testing::HasSubstr("0.001000000000,,reaction,job0 without switches that "
                                       "aggregate,fallback,"));
    }
}

TEST(AggregationFaults, SwitchesAggregateAgainInTheNextIteration)
{
    const auto result = Survive("aggregator-down",
                                ALL_SWITCHES,
                                R"(, "duration": "1ms")",
                                {{"job.iterations", "2"}});
    EXPECT_EQ(result.summary.fallbacks, 1U);
    EXPECT_EQ(result.iterations.at(1).plan, 0U);
}

TEST(AggregationFaults, AJobWithoutFallbackFailsWithTheSwitches)
{
    const auto result =
        SimulateFault("aggregator-down", ALL_SWITCHES, "", {{"scheme.fallback", "none"}});
    EXPECT_FALSE(result.summary.finished);
    EXPECT_THAT(result.summary.failure,
                testing::HasSubstr("no switches aggregate any more: no switch of the network"));
}

TEST(AggregationFaults, TheParameterServerOfAtpDoesWithoutASwitch)
{
    // Servers are the last endpoints: that of leaf0 is for workers only.
    const std::string late = R"(, "start": "100us")";
    const auto worker = Survive("aggregator-down", R"("leaf0")", late, {{"scheme", "atp"}});
    EXPECT_EQ(worker.summary.aggregation.rebuilds, 1U);
    EXPECT_EQ(worker.summary.fallbacks, 0U);
    // The one of the server's own switch ends it.
    const auto server = Survive("aggregator-down", R"("leaf1")", late, {{"scheme", "atp"}});
    EXPECT_EQ(server.summary.fallbacks, 1U);
}

} // namespace
} // namespace ns3::gradsync
