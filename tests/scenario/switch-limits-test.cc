// SPDX-License-Identifier: GPL-2.0-only
// Scenarios with the limits of a real switch: times against closed forms. Part of
// scenario-runner-test.
#include "scenario/scenario-runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

/// n = 4; packets of 64 integers take 342 bytes on the wire, and so t = 1 us; d = 2 us. All 50 are
/// under way at once.
constexpr const char* STAR_OF_FOUR = R"({
  "topology": {"kind": "star", "hosts": 4, "hostLink": {"rate": "2736Mbps", "delay": "2us"}},
  "transport": {"kind": "roce", "aggregation": {"values": "real"}},
  "job": {"gradient": "12800B"},
  "scheme": {"kind": "switchml"}})";

Time
Measure(const std::vector<ScenarioOverride>& overrides, const char* text = STAR_OF_FOUR)
{
    const auto result = Simulate(overrides, text);
    EXPECT_TRUE(result.summary.finished) << result.summary.failure;
    EXPECT_EQ(result.summary.aggregation.wrongSums, 0U);
    return result.duration;
}

constexpr const char* RATE = "transport.aggregation.pipelinePacketRate";
constexpr const char* DELAY = "transport.aggregation.processingDelay";
constexpr const char* PER_PASS = "transport.aggregation.valuesPerPass";
constexpr const char* PIPELINES = "transport.aggregation.pipelines";

TEST(SwitchLimits, APipelineTakesInNoMoreThanItsRate)
{
    // g = 1 us. All four workers send one packet each t, so that from t + d on the pipeline is
    // never idle: it takes in the last of 4 * 50 packets 199 g later, whose sum takes t + d.
    EXPECT_EQ(Measure({{RATE, "1e6"}}), MicroSeconds(3 + 199 + 3));
    // A rate that it need not reach: four packets at once each t, of which the last waits 3 g.
    EXPECT_EQ(Measure({{RATE, "1e7"}}), MicroSeconds(51 + 4) + NanoSeconds(300));
    // None: (M + 1) t + 2 d.
    EXPECT_EQ(Measure({}), MicroSeconds(51 + 4));
}

TEST(SwitchLimits, RecirculationTakesItsShareOfThePipeline)
{
    // 256 integers in 1110 bytes on the wire: t = 1 us. Four passes each: the last of 4 * 20
    // packets is taken in 79 * 4 g after the first, goes round 3 g longer, and each pass takes 0.5
    // us.
    EXPECT_EQ(Measure({{"topology.hostLink.rate", "8880Mbps"},
                       {"transport.aggregation.slot.valuesPerPacket", "256"},
                       {"job.gradient", "20480B"},
                       {RATE, "1e6"},
                       {PER_PASS, "64"},
                       {DELAY, "500ns"}}),
              MicroSeconds(3 + int64_t{79} * 4 + 3 + 3) + NanoSeconds(int64_t{4} * 500));
}

TEST(SwitchLimits, APassTakesItsTime)
{
    EXPECT_EQ(Measure({{DELAY, "700ns"}}), MicroSeconds(51 + 4) + NanoSeconds(700));
    EXPECT_EQ(Measure({{DELAY, "700ns"}, {PER_PASS, "32"}}),
              MicroSeconds(51 + 4) + NanoSeconds(1400));
}

TEST(SwitchLimits, PacketsPassThePipelineOfTheirPortAndThatOfTheirSlot)
{
    // Slot 0 is in pipeline 0, as the port of worker 0; the packet of worker 1 gets there from
    // pipeline 1 at once, and waits for the other one's gap.
    EXPECT_EQ(
        Measure(
            {{"topology.hosts", "2"}, {"job.gradient", "256B"}, {RATE, "1e6"}, {PIPELINES, "2"}}),
        MicroSeconds(3 + 1 + 3));
    // Two workers, 60 packets: 120 passes of one pipeline, or 180 in two, which are 90 each.
    const std::vector<ScenarioOverride> two{{"topology.hosts", "2"},
                                            {"job.gradient", "15360B"},
                                            {RATE, "1e6"}};
    EXPECT_EQ(Measure(two), MicroSeconds(3 + 119 + 3));
    auto both = two;
    both.push_back({PIPELINES, "2"});
    EXPECT_GE(Measure(both), MicroSeconds(3 + 89 + 3));
    EXPECT_LT(Measure(both), MicroSeconds(3 + 119 + 3)); // where one waits for the other it is idle
}

TEST(SwitchLimits, HoldForTheP4ProgramAsForTheNativeSwitch)
{
    const std::vector<ScenarioOverride> limited{
        {"topology",
         R"({"kind": "spine-leaf", "spines": 1, "leaves": 2, "hostsPerLeaf": 2,
             "hostLink": {"rate": "2736Mbps", "delay": "2us"},
             "fabricLink": {"rate": "2736Mbps", "delay": "2us"}})"},
        {"fabric.lossRate", "0.02"},
        {"transport.aggregation.slot.timeout", "200us"},
        {"transport.aggregation.slot.slots", "16"},
        {"transport.aggregation.slot.poolSlots", "32"},
        {RATE, "1e6"},
        {PER_PASS, "32"},
        {PIPELINES, "2"},
        {DELAY, "300ns"}};
    auto p4 = limited;
    p4.push_back({"transport.aggregation.engine", "p4"});
    const auto native = Simulate(limited, STAR_OF_FOUR);
    const auto program = Simulate(p4, STAR_OF_FOUR);
    ASSERT_TRUE(native.summary.finished && program.summary.finished);
    EXPECT_EQ(program.duration, native.duration);
    EXPECT_EQ(program.summary.wireBytes, native.summary.wireBytes);
    EXPECT_EQ(program.summary.aggregation.wrongSums, 0U);
}

TEST(SwitchLimits, HoldForBoxesOfNetReduceAndAggregatorsOfAtp)
{
    // 32 packets of 1416 bytes, which take t = 1 us, from each of four workers.
    EXPECT_EQ(Measure({{"topology.hostLink.rate", "11984Mbps"},
                       {"transport.mtu", "1416B"},
                       {"transport.ackEvery", "0"},
                       {"transport.aggregation.netreduce.messagePackets", "8"},
                       {"job.gradient", "45248B"},
                       {"scheme", "netreduce"},
                       {RATE, "1e6"}}),
              MicroSeconds(3 + int64_t{4} * 32 - 1 + 3));
    // 52 packets of 62 integers from each of four, then as many answers of the server.
    EXPECT_GT(Measure({{"topology.hosts", "5"}, {"scheme", "atp"}, {RATE, "1e6"}}),
              MicroSeconds(int64_t{4} * 52 - 1));
}

} // namespace
} // namespace ns3::gradsync
