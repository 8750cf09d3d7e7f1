// SPDX-License-Identifier: GPL-2.0-only
// SHARP: what its manager gives to jobs, times and bytes against closed forms, sums whatever is
// lost. Part of aggregation-tests.
#include "unit/aggregation/slot-aggregation-fixture.h"

#include "ns3/sharp-manager.h"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;
using testing::ThrowsMessage;

/// A tree of one switch.
std::vector<SharpManager::Hop>
At(NodeId node, std::set<uint16_t> ports = {0, 1})
{
    return {{node, fmt::format("switch{}", node), std::move(ports)}};
}

TEST(SharpManager, LetsASwitchOfQuantumStreamForOneTreeAtATime)
{
    SharpManager manager;
    manager.Take(0, SharpTree::Streaming, 3, At(0));
    EXPECT_THAT(
        [&] {
            manager.Take(1, SharpTree::Streaming, 3, At(0, {5, 6}));
        },
        ThrowsMessage<AggregationDenied>("switch switch0 streams for one tree of SHARP at "
                                         "a time, and another job has its lock"));
    manager.Take(2, SharpTree::LowLatency, 20, At(0)); // which needs no lock
    manager.Take(3, SharpTree::Streaming, 3, At(1));
    manager.Return(0);
    manager.Take(1, SharpTree::Streaming, 3, At(0));
}

TEST(SharpManager, LetsAPortOfQuantum2StreamForOneTreeAtATime)
{
    SharpManager manager;
    manager.SetGeneration(SHARP_QUANTUM2);
    manager.Take(0, SharpTree::Streaming, 3, At(0, {0, 1, 2}));
    manager.Take(1, SharpTree::Streaming, 3, At(0, {3, 4}));
    EXPECT_THAT(
        [&] {
            manager.Take(2, SharpTree::Streaming, 3, At(0, {2, 5}));
        },
        ThrowsMessage<AggregationDenied>(HasSubstr("port 2 of switch switch0 streams")));
    manager.Take(2, SharpTree::LowLatency, 3, At(0, {2, 5}));
}

TEST(SharpManager, HasAsManyTreesAsTheSwitches)
{
    struct Case
    {
        SharpGeneration generation;
        uint32_t trees;
    };

    for (const auto& [generation, trees] : {Case{SHARP_QUANTUM, 126}, Case{SHARP_QUANTUM2, 1023}})
    {
        SharpManager manager;
        manager.SetGeneration(generation);
        for (uint32_t group = 0; group < trees; ++group)
        {
            manager.Take(group, SharpTree::LowLatency, 0, At(0));
        }
        const uint32_t next = trees;
        EXPECT_THAT([&] { manager.Take(next, SharpTree::LowLatency, 0, At(0)); },
                    ThrowsMessage<AggregationDenied>(
                        HasSubstr(fmt::format("all of its {} trees of SHARP", trees))));
    }
    // Of Quantum's, 63 stream.
    EXPECT_EQ(SharpManager::GetLimits(SHARP_QUANTUM).streamingTrees, 63U);
}

TEST(SharpManager, GivesEachJobAShareOfASwitch)
{
    SharpManager manager;
    for (uint32_t group = 0; group < 5; ++group)
    {
        manager.Take(group, SharpTree::LowLatency, 20, At(0));
    }
    EXPECT_THAT([&] { manager.Take(5, SharpTree::LowLatency, 1, At(0)); },
                ThrowsMessage<AggregationDenied>(HasSubstr("has 0 % left of its transactions")));
}

TEST(SharpManager, GivesNothingOfATreeOfWhichASwitchIsDenied)
{
    SharpManager manager;
    manager.Take(0, SharpTree::Streaming, 3, At(1));
    const std::vector<SharpManager::Hop> both{At(0).front(), At(1).front()};
    EXPECT_THROW(manager.Take(1, SharpTree::Streaming, 3, both), AggregationDenied);
    manager.Take(1, SharpTree::Streaming, 3, At(0));
}

/// 2,048 and 26 bytes take 1 us.
const DataRate SHARP_RATE(uint64_t{8} * 2074 * 1'000'000);
constexpr uint64_t SHARP_PAYLOAD = 2048;

class SharpTest : public SlotAggregationTest
{
  protected:
    static Job MakeSharpJob(uint32_t workers,
                            uint64_t bytes,
                            const std::string& tree,
                            int64_t pieces = 1,
                            uint32_t iterations = 1)
    {
        auto request = MakeRequest("sharp", workers, bytes);
        request.parameters.Set("tree", tree);
        request.parameters.Set("pipelineChunks", pieces);
        return MakeJob("sharp", request, iterations);
    }

    void InstallSharpRacks(uint32_t racks, uint32_t hostsPerRack)
    {
        Install(
            oracles::MakeRackNetwork(racks, hostsPerRack, {SHARP_RATE, SHARP_RATE, MicroSeconds(2)})
                .topology);
    }

    void ExpectExactSums(uint64_t sums) const
    {
        const auto statistics = m_transport->GetAggregation()->GetStatistics();
        EXPECT_EQ(statistics.checkedSums, sums);
        EXPECT_EQ(statistics.wrongSums, 0U);
    }
};

// M packets with W credits, t = 1, d = 2, RTT = 2 t + 2 d = 6 (doc/aggregation.rst): (M + 1) t + 2
// d where W t >= RTT, else floor((M - 1)/W) RTT + ((M - 1) mod W) t + RTT.

TEST_F(SharpTest, StreamsAsFastAsTheLinks)
{
    Set("Values", StringValue("real"));
    InstallStar(4, SHARP_RATE);
    EXPECT_EQ(Run(MakeSharpJob(4, 300 * SHARP_PAYLOAD, "sat")).front(), MicroSeconds(301 + 4));
    ExpectExactSums(4U * 300);
}

TEST_F(SharpTest, HasSoManyTransactionsUnderWay)
{
    struct Case
    {
        uint32_t credits;
        int64_t microseconds; // for 20 packets
    };

    for (const auto& [credits, microseconds] : {Case{1, 120}, Case{4, 4 * 6 + 3 + 6}, Case{8, 25}})
    {
        TearDown();
        SetUp();
        Set("sharp.GroupTransactions", UintegerValue(credits));
        InstallStar(3, SHARP_RATE);
        EXPECT_EQ(Run(MakeSharpJob(3, 20 * SHARP_PAYLOAD, "llt")).front(),
                  MicroSeconds(microseconds));
    }
}

TEST_F(SharpTest, SendsTheGradientOnceOverEachLinkOfItsTree)
{
    Set("Values", StringValue("real"));
    InstallSharpRacks(3, 2);
    const auto time = Run(MakeSharpJob(6, 100 * SHARP_PAYLOAD, "sat")).front();
    // Four links, each t + d, and one t for each packet after the first.
    EXPECT_EQ(time, MicroSeconds(99 + 4 * 3));
    ExpectOnEachLink(100 * SHARP_PAYLOAD, 100 * (SHARP_PAYLOAD + 26));
    ExpectExactSums(6U * 100);
}

TEST_F(SharpTest, PadsNothing)
{
    InstallStar(2, SHARP_RATE);
    Run(MakeSharpJob(2, SHARP_PAYLOAD + 4, "sat"));
    for (const auto& link : m_transport->GetLinkStatistics())
    {
        EXPECT_EQ(link.payloadBytes, SHARP_PAYLOAD + 4);
        EXPECT_EQ(link.wireBytes, SHARP_PAYLOAD + 4 + 2 * 26);
    }
}

TEST_F(SharpTest, GivesExactSumsWhateverIsLost)
{
    for (const double rate : {0.01, 0.1, 0.4})
    {
        TearDown();
        SetUp();
        SetLoss(rate);
        Set("sharp.Timeout", StringValue("50us"));
        Set("sharp.StreamPackets", UintegerValue(8));
        InstallSharpRacks(2, 3);
        Run(MakeSharpJob(6, 200 * SHARP_PAYLOAD, "sat", 5, 2));
        ExpectExactSums(6U * 2 * 200);
        EXPECT_GT(m_transport->GetAggregation()->GetStatistics().retransmissions, 0U);
    }
}

TEST_F(SharpTest, AddsFloatsAsTheyAreOnTwoLevels)
{
    // At 20 % loss, too: every child is added once, whatever came again. All have the same bits;
    // one of them is compared with float64: five roundings of at most 2^-24.
    for (const double rate : {0.0, 0.2})
    {
        TearDown();
        SetUp();
        SetLoss(rate);
        Set("Values", StringValue("float"));
        Set("sharp.Timeout", StringValue("50us"));
        Set("sharp.StreamPackets", UintegerValue(8));
        InstallSharpRacks(2, 3);
        Run(MakeSharpJob(6, 20 * SHARP_PAYLOAD, "sat", 2));
        ExpectExactSums(6U * 20);
        const auto statistics = m_transport->GetAggregation()->GetStatistics();
        const auto error = std::sqrt(statistics.squaredSumErrors / statistics.squaredSums);
        EXPECT_GT(error, 0.0);
        EXPECT_LT(error, 5 * 0x1p-24);
    }
}

TEST_F(SharpTest, RefusesAMessageThatIsTooLongForAStreamingTree)
{
    // The scheme cuts it: of 1,073,741,792 bytes each, a gradient of one byte more takes two.
    SchemeRequest request;
    request.workers = 2;
    request.parameters = MakeDefaultParameters(*FindScheme("sharp"));
    request.elementBytes = 1;
    request.gradientBytes = 1'073'741'792;
    EXPECT_EQ(FindScheme("sharp")->build(request).GetOperations().size(), 2U);
    ++request.gradientBytes;
    EXPECT_EQ(FindScheme("sharp")->build(request).GetOperations().size(), 4U);
    request.parameters.Set("tree", std::string("llt"));
    EXPECT_EQ(FindScheme("sharp")->build(request).GetOperations().size(), 2U);
}

TEST_F(SharpTest, FailsByNameWhenTheSwitchDoesNotAnswer)
{
    Set("RetryLimit", UintegerValue(3));
    Set("sharp.Timeout", StringValue("10us"));
    InstallStar(3, SHARP_RATE);
    m_transport->GetAggregation()->SetAggregatorState(*m_topology->FindNode("leaf0"), false);
    m_engine->AddJob(MakeSharpJob(3, 10 * SHARP_PAYLOAD, "sat"));
    Simulator::Run();
    ASSERT_TRUE(m_engine->GetFailure());
    EXPECT_THAT(m_engine->GetFailure()->reason, HasSubstr("no result of SHARP"));
}

TEST_F(SharpTest, HasATreeAgainWhenAGroupCloses)
{
    InstallStar(2, SHARP_RATE);
    const auto open = [this](const std::string& protocol) {
        return m_transport->GetAggregation()->OpenAggregation(
            {.endpoints = {0, 1}, .protocol = protocol});
    };
    const auto group = open("sharp-sat");
    EXPECT_THROW(open("sharp-sat"), AggregationDenied);
    EXPECT_NO_THROW(open("sharp-llt"));
    m_transport->GetAggregation()->CloseAggregation(group);
    EXPECT_NO_THROW(open("sharp-sat"));
}

} // namespace
} // namespace ns3::gradsync
