// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-builder.h"
#include "ns3/plan-protocol.h"
#include "ns3/plan-verifier.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

MessageProtocol
MakeEfficient(double efficiency)
{
    return {.efficiency = efficiency};
}

// n / (a / b) rounded up is (n b + a - 1) / a in whole numbers. A power of two is exact in a
// double; of thousandths most are not, so that n may seem to lack, or to exceed, a whole number.
TEST(PlanProtocol, BytesAreThePayloadOverTheEfficiencyRoundedUp)
{
    std::mt19937_64 random(17);
    const auto ll = FindProtocol("ll")->defaults;
    const auto ll128 = FindProtocol("ll128")->defaults;
    const auto simple = FindProtocol("simple")->defaults;
    for (int trial = 0; trial < 20'000; ++trial)
    {
        const auto payload = random() % (uint64_t{1} << 44);
        EXPECT_EQ(GetProtocolBytes(simple, payload), payload);
        EXPECT_EQ(GetProtocolBytes(ll, payload), 2 * payload);
        EXPECT_EQ(GetProtocolBytes(ll128, payload), (payload * 16 + 14) / 15);
        const auto share = 500 + random() % 501;
        const auto protocol = MakeEfficient(static_cast<double>(share) / 1000.0);
        const auto small = trial % 2 == 0 ? random() % 10'000 : random() % 100'000'000'000;
        EXPECT_EQ(GetProtocolBytes(protocol, small), (small * 1000 + share - 1) / share)
            << small << " / " << share;
    }
    EXPECT_EQ(GetProtocolBytes(ll, 0), 0U);
    EXPECT_EQ(GetProtocolBytes(ll128, 1), 2U);
    EXPECT_EQ(GetProtocolBytes(ll128, 120), 128U);
    EXPECT_EQ(GetProtocolBytes(MakeEfficient(0.92), 92), 100U);
}

// The figures of NCCL's src/graph/tuning.cc for rings, in us: before the first message, after one
// over NVLink, after one over the network.
TEST(PlanProtocol, HasThePublishedFigures)
{
    constexpr uint64_t US = 1'000'000;
    EXPECT_EQ(FindProtocol("ll")->defaults,
              (MessageProtocol{66 * US / 10, 6 * US / 10, 27 * US / 10, 0.5}));
    EXPECT_EQ(FindProtocol("ll128")->defaults,
              (MessageProtocol{14 * US, 19 * US / 10, 4 * US, 120.0 / 128.0}));
    EXPECT_EQ(FindProtocol("simple")->defaults,
              (MessageProtocol{84 * US / 10, 34 * US / 10, 14 * US, 1.0}));
    EXPECT_EQ(FindProtocol("ll256"), nullptr);
}

/// Three ranks, chunks of 100 and 60 bytes: 0 sends both to 1, 1 the first to 2; 2 moves it from a
/// staging buffer, over no network; then it signals 5 bytes to 0.
PlanBuilder
MakeChain()
{
    PlanBuilder builder(3, 3, ChunkLayout::FromSizes(std::vector<uint64_t>{100, 60}));
    const auto first = builder.AddReduce(0, 1, 0, 2);
    const auto second = builder.AddReduce(1, 2, 0, 1, 0, {0, 1});
    const auto third = builder.AddReduce(2, 2, 0, 1, 0, {1, 0});
    builder.AddEdge(first, second);
    builder.AddEdge(second, third);
    builder.AddEdge(third, builder.AddSignal(2, 0, 5));
    return builder;
}

TEST(PlanProtocol, MessagesGrowAndWhatStaysInARankDoesNot)
{
    const auto plan = ApplyProtocol(MakeChain().Build(), {1, 2, 3, 0.3}, {0, 0, 1});
    EXPECT_EQ(plan.GetBytes(0), 534U); // 160 / 0.3 = 533.3
    EXPECT_EQ(plan.GetBytes(1), 334U); // 100 / 0.3 = 333.3
    EXPECT_EQ(plan.GetBytes(2), 100U);
    EXPECT_EQ(plan.GetBytes(3), 17U); // 5 / 0.3 = 16.7
    EXPECT_FALSE(plan.IsCompressed());
    const auto operations = plan.GetOperations();
    EXPECT_EQ(plan.GetHopPicoseconds(operations[0]), 2U);
    EXPECT_EQ(plan.GetHopPicoseconds(operations[1]), 3U);
    EXPECT_EQ(plan.GetHopPicoseconds(operations[2]), 0U);
    EXPECT_EQ(plan.GetHopPicoseconds(operations[3]), 3U);
    EXPECT_EQ(plan.GetProtocol().basePicoseconds, 1U);
}

TEST(PlanProtocol, OfAllThatIsSentNoByteIsAdded)
{
    const auto bare = MakeChain().Build();
    const auto plan = ApplyProtocol(MakeChain().Build(), {1, 2, 3, 1.0}, {0, 1, 2});
    for (OperationId id = 0; id < bare.GetOperations().size(); ++id)
    {
        EXPECT_EQ(plan.GetBytes(id), bare.GetBytes(id));
    }
    EXPECT_EQ(bare.GetHopPicoseconds(bare.GetOperations()[0]), 0U);
    EXPECT_EQ(bare.GetProtocol(), MessageProtocol());
}

TEST(PlanProtocol, GrowsWhatACodecMade)
{
    auto builder = MakeChain();
    builder.SetMessageBytes(0, 40);
    const auto plan = ApplyProtocol(builder.Build(), MakeEfficient(0.5), {0, 1, 2});
    EXPECT_TRUE(plan.IsCompressed());
    EXPECT_EQ(plan.GetBytes(0), 80U);
    EXPECT_EQ(plan.GetBytes(1), 200U);
}

std::string
ErrorOfProtocol(Plan plan)
{
    try
    {
        ApplyProtocol(std::move(plan), MakeEfficient(0.5), {0, 1});
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "no error";
}

TEST(PlanProtocol, IsRefusedWhereMessagesAreNotThoseOfRanks)
{
    PlanBuilder sums(2, 2, ChunkLayout::Even(8, 1));
    sums.AddAggregate(sums.AddAggregationGroup({0, 1}, {}), 0, 1);
    EXPECT_NE(ErrorOfProtocol(sums.Build()).find("switches aggregate"), std::string::npos);
    PlanBuilder round(2, 2, ChunkLayout::Even(8, 1));
    round.AddGate(0, 1, 1000);
    round.AddAnswer(round.AddReduce(1, 0, 0, 1), 1);
    EXPECT_NE(ErrorOfProtocol(round.Build()).find("leaves out who is late"), std::string::npos);
}

TEST(PlanProtocol, NeedsTheServerOfEachRank)
{
    EXPECT_THROW(ApplyProtocol(MakeChain().Build(), MakeEfficient(0.5), {0, 1}), std::logic_error);
}

} // namespace
} // namespace ns3::gradsync
