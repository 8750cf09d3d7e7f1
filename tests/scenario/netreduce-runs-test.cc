// SPDX-License-Identifier: GPL-2.0-only
// Scenarios with NetReduce: times against closed forms, bytes of links, sums whatever is lost. Part
// of scenario-runner-test.
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

/// 1416 bytes take 1498 on the wire, and so t = 1 us; d = 2 us. No acknowledgements: they would
/// take their share of the links.
constexpr const char* RING = R"({
  "topology": {"kind": "star", "hosts": 4, "hostLink": {"rate": "11984Mbps", "delay": "2us"}},
  "transport": {"kind": "roce", "mtu": "1416B", "ackEvery": 0,
                "aggregation": {"values": "real", "netreduce": {"messagePackets": 8}}},
  "job": {"gradient": "113120B"},
  "scheme": {"kind": "netreduce"}})";

/// The same, in racks under one spine.
std::vector<ScenarioOverride>
Racks(uint32_t racks, uint32_t hosts, std::vector<ScenarioOverride> others = {})
{
    constexpr const char* LINK = R"({"rate": "11984Mbps", "delay": "2us"})";
    others.push_back(
        {"topology",
         fmt::format(R"({{"kind": "spine-leaf", "spines": 1, "leaves": {}, "hostsPerLeaf": {},
                          "hostLink": {}, "fabricLink": {}}})",
                     racks,
                     hosts,
                     LINK,
                     LINK)});
    return others;
}

/// Messages of so many packets, so many of them under way, and the time for ten.
struct CreditCase
{
    uint32_t packets;
    uint32_t window;
    int64_t microseconds;
};

class NetReduceCredit : public testing::TestWithParam<CreditCase>
{
};

TEST_P(NetReduceCredit, TakesTheTimeOfTheClosedForm)
{
    // Message m starts when the one before has left and the sum of m - W is there, L t + t + 2 d
    // after its start. W = 1: ten times that. L = 2 and W = 2: pairs of messages 7 us apart, so
    // that the last one starts at 4 * 7 + 2 and ends 7 us later. Where (W - 1) L t >= t + 2 d
    // nobody waits: (M + 1) t + 2 d. A message has 16 bytes of header.
    const auto& [packets, window, microseconds] = GetParam();
    const auto bytes = 10 * (packets * 1416 - 16);
    const auto result =
        Simulate({{"transport.aggregation.netreduce.messagePackets", std::to_string(packets)},
                  {"transport.aggregation.netreduce.window", std::to_string(window)},
                  {"job.gradient", fmt::format("{}B", bytes)}},
                 RING);
    ASSERT_TRUE(result.summary.finished) << result.summary.failure;
    EXPECT_EQ(result.duration, MicroSeconds(microseconds));
    EXPECT_EQ(result.summary.aggregation.checkedSums, 4U * 10 * packets);
    EXPECT_EQ(result.summary.aggregation.wrongSums, 0U);
    EXPECT_EQ(result.summary.goodputBytes, uint64_t{4} * bytes);
}

INSTANTIATE_TEST_SUITE_P(Windows,
                         NetReduceCredit,
                         testing::Values(CreditCase{8, 2, 85},
                                         CreditCase{8, 1, 130},
                                         CreditCase{2, 2, 37}));

TEST(NetReduce, TakesTwoMoreHopsEachWayThroughALevelOfBoxesMore)
{
    // Four links there and back, each t + d, and one t for each of 80 packets after the first.
    const auto result = Simulate(Racks(2, 3), RING);
    ASSERT_TRUE(result.summary.finished) << result.summary.failure;
    EXPECT_EQ(result.duration, MicroSeconds(79 + 4 * 3));
    // Every link carries the gradient once in each direction, the spine's too.
    ASSERT_EQ(result.links.size(), 2U * 8);
    for (const auto& link : result.links)
    {
        EXPECT_EQ(link.payloadBytes, 113'120U);
        EXPECT_EQ(link.packets, 80U);
        EXPECT_EQ(link.wireBytes, 80U * 1498);
    }
}

TEST(NetReduce, GoesOnThroughPiecesAndIterationsAndPadsNothing)
{
    const auto result = Simulate(
        {{"job.gradient", "100004B"}, {"job.iterations", "3"}, {"scheme.pipelineChunks", "3"}},
        RING);
    ASSERT_TRUE(result.summary.finished) << result.summary.failure;
    EXPECT_EQ(result.summary.aggregation.wrongSums, 0U);
    EXPECT_EQ(result.summary.goodputBytes, uint64_t{3} * 4 * 100'004);
    for (const auto& link : result.links)
    {
        EXPECT_EQ(link.payloadBytes, 3U * 100'004);
    }
}

TEST(NetReduce, SendsTheGradientThroughTheNicOnceWhateverTheNumberOfAccelerators)
{
    const auto result = Simulate({{"topology.hosts", "3"},
                                  {"topology.server", R"({"accelerators": 4})"},
                                  {"job.gradient", "400kB"}},
                                 RING);
    ASSERT_TRUE(result.summary.finished) << result.summary.failure;
    EXPECT_EQ(result.summary.aggregation.wrongSums, 0U);
    uint64_t bytes = 0;
    for (LinkId link = 0; link < result.topology->GetLinks().size(); ++link)
    {
        const bool isHost = result.topology->GetLinks()[link].kind == LinkKind::Host;
        bytes += isHost ? result.links[size_t{2} * link].payloadBytes +
                              result.links[size_t{2} * link + 1].payloadBytes
                        : 0;
    }
    EXPECT_EQ(bytes, uint64_t{2} * 3 * 400'000);
}

/// Loss rate in percent.
class NetReduceLoss : public testing::TestWithParam<int>
{
  protected:
    static void Expect(std::vector<ScenarioOverride> overrides, uint32_t workers)
    {
        overrides.insert(overrides.end(),
                         {{"fabric.lossRate", fmt::format("{}", GetParam() / 100.0)},
                          {"transport.ackEvery", "4"},
                          {"transport.mtu", "256B"},
                          {"transport.timeout", "100us"},
                          {"transport.retryLimit", "100000"},
                          {"transport.aggregation.netreduce.window", "2"},
                          {"job.gradient", "15000B"},
                          {"job.iterations", "2"}});
        const auto result = Simulate(overrides, RING);
        ASSERT_TRUE(result.summary.finished) << result.summary.failure;
        // 7 messages of 8 * 256 - 16 bytes, and 4 packets for the other 776 with their header.
        static_assert(7 * 2032 + 776 == 15000);
        EXPECT_EQ(result.summary.aggregation.checkedSums, 2 * workers * (7 * 8 + 4));
        EXPECT_EQ(result.summary.aggregation.wrongSums, 0U);
        EXPECT_GT(result.summary.retransmittedPackets, 0U);
        EXPECT_GT(result.summary.aggregation.repeatedResults, 0U);
        EXPECT_EQ(result.summary.goodputBytes, uint64_t{2} * workers * 15000);
    }
};

TEST_P(NetReduceLoss, LeavesEveryWorkerWithTheExactSumOfAll)
{
    Expect({{"topology.hosts", "5"}}, 5);
}

TEST_P(NetReduceLoss, LeavesEveryWorkerWithTheExactSumOverTwoLevels)
{
    Expect(Racks(3, 2), 6);
}

INSTANTIATE_TEST_SUITE_P(Percent, NetReduceLoss, testing::Values(1, 5, 10, 20, 40));

TEST(NetReduce, OtherBoxesAggregateWhenASwitchIsDown)
{
    const std::vector<ScenarioOverride> racks =
        Racks(2, 2, {{"fabric.loadBalancing", "destination"}});
    auto both = racks;
    both.push_back({"topology.spines", "2"});
    const auto calm = Simulate(both, RING);
    for (const auto* kind : {"switch-down", "aggregator-down"})
    {
        auto faulty = both;
        faulty.push_back(
            {"faults", fmt::format(R"([{{"kind": "{}", "switches": ["spine0"]}}])", kind)});
        const auto result = Simulate(faulty, RING);
        ASSERT_TRUE(result.summary.finished) << result.summary.failure;
        // Known after 1 ms; then all messages go by way of the other spine, as long as ever.
        EXPECT_EQ(result.duration, MilliSeconds(1) + calm.duration);
        EXPECT_EQ(result.summary.aggregation.rebuilds, 1U);
        EXPECT_EQ(result.summary.aggregation.wrongSums, 0U);
        EXPECT_EQ(result.summary.fallbacks, 0U);
    }
}

TEST(NetReduce, KeepsSumsExactWheneverABoxFails)
{
    for (const auto* start : {"0us", "3us", "10us", "57us", "80us", "95us"})
    {
        for (const auto* node : {"spine0", "leaf0"})
        {
            const auto result =
                Simulate(Racks(2,
                               3,
                               {{"fabric.lossRate", "0.01"},
                                {"transport.ackEvery", "4"},
                                {"transport.timeout", "100us"},
                                {"transport.retryLimit", "1000"},
                                {"scheme.pipelineChunks", "3"},
                                {"faults",
                                 fmt::format(R"([{{"kind": "aggregator-down", "switches": ["{}"],
                                          "start": "{}", "detectionDelay": "30us"}}])",
                                             node,
                                             start)}}),
                         RING);
            ASSERT_TRUE(result.summary.finished) << node << start << result.summary.failure;
            EXPECT_EQ(result.summary.aggregation.wrongSums, 0U);
            // Without the spine's box a leaf is the root, and the spine hands on.
            EXPECT_EQ(result.summary.aggregation.rebuilds, 1U);
            EXPECT_EQ(result.summary.fallbacks, 0U);
        }
    }
}

TEST(NetReduce, WorkersDoWithoutBoxesWhenNoneAggregates)
{
    for (const std::string scheme : {"ps", "ring"})
    {
        const auto alone = Simulate({{"scheme", scheme}}, RING);
        const auto result =
            Simulate({{"scheme.fallback", scheme},
                      {"faults", R"([{"kind": "aggregator-down", "switches": ["leaf0"]}])"}},
                     RING);
        ASSERT_TRUE(result.summary.finished) << result.summary.failure;
        // Jobs know after 1 ms.
        EXPECT_EQ(result.duration, MilliSeconds(1) + alone.duration);
        EXPECT_EQ(result.summary.fallbacks, 1U);
    }
}

TEST(NetReduce, FailsWithTheConnectionWhenNothingComesThrough)
{
    const auto result = Simulate({{"fabric.lossRate", "1"},
                                  {"transport.ackEvery", "4"},
                                  {"transport.retryLimit", "2"},
                                  {"scheme.fallback", "none"}},
                                 RING);
    EXPECT_FALSE(result.summary.finished);
    EXPECT_THAT(result.summary.failure, testing::HasSubstr("gave up after 3 timeouts"));
}

TEST(NetReduce, RefusesWhatItsBoxesCannotDo)
{
    const auto message = [](const char* key, const char* value) {
        try
        {
            Simulate({{key, value}}, RING);
        }
        catch (const std::exception& error)
        {
            return std::string(error.what());
        }
        return std::string();
    };
    using testing::HasSubstr;
    EXPECT_THAT(message("transport.aggregation.engine", "p4"),
                HasSubstr("NetReduce runs natively"));
    EXPECT_THAT(message("transport.aggregation.saturate", "true"), HasSubstr("wrap around"));
    EXPECT_THAT(message("transport.congestionControl", "hpcc"), HasSubstr("hpcc"));
    EXPECT_THAT(message("transport.mtu", "1414B"), HasSubstr("no whole number of integers"));
    EXPECT_THAT(message("transport", R"({"kind": "roce", "recovery": "selective-repeat"})"),
                HasSubstr("must be go-back-n"));
}

} // namespace
} // namespace ns3::gradsync
