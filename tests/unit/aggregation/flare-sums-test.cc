// SPDX-License-Identifier: GPL-2.0-only
// FLARE: what handlers make of the packets of a block in whatever order, and what counts as the sum
// of floats. Part of aggregation-tests.
#include "ns3/block-sum.h"
#include "ns3/flare-tensor.h"
#include "ns3/handler-cores.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <bit>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using Bits = std::vector<int32_t>;

constexpr uint16_t PACKET_VALUES = 16;

Bits
ToBitPatterns(const std::vector<float>& values)
{
    Bits bits;
    for (const auto value : values)
    {
        bits.push_back(std::bit_cast<int32_t>(value));
    }
    return bits;
}

constexpr BlockArithmetic INTEGERS{.addsFloats = false, .isSparse = false};
constexpr BlockArithmetic FLOATS{.addsFloats = true, .isSparse = false};
const BlockTimes TIMES{.copy = Time(1), .add = Time(2), .addEach = Time(1), .areByContent = false};

FlareTensor
MakeTensor(uint32_t workers)
{
    return {0,
            {workers, PACKET_VALUES, false},
            {.distribution = GetGradientDistributions()[2],
             .arithmetic = FLOATS,
             .entries = 0,
             .valueBits = 24}};
}

/// Handlers begin with the packets of children in an order, and go on in an order by chance.
Bits
AddUp(BlockSum& block, const std::vector<Bits>& packets, std::mt19937& random)
{
    std::vector<uint32_t> waiting(packets.size());
    std::iota(waiting.begin(), waiting.end(), 0U);
    std::shuffle(waiting.begin(), waiting.end(), random);
    std::vector<Contribution> running;
    while (!waiting.empty() || !running.empty())
    {
        EXPECT_FALSE(block.IsComplete());
        if (running.empty() || (!waiting.empty() && random() % 2 == 0))
        {
            running.push_back({.child = waiting.back()});
            block.Begin(TIMES, running.back(), packets[waiting.back()]);
            waiting.pop_back();
            continue;
        }
        const auto chosen = running.begin() + static_cast<int>(random() % running.size());
        if (!block.Continue(TIMES, *chosen))
        {
            running.erase(chosen);
        }
    }
    EXPECT_TRUE(block.IsComplete());
    return block.TakeSum();
}

TEST(BlockSum, OfIntegersIsExactInEveryOrder)
{
    std::mt19937 random(24);
    for (int run = 0; run < 300; ++run)
    {
        const uint32_t children = 1 + random() % 20;
        std::vector<Bits> packets(children, Bits(PACKET_VALUES));
        Bits expected(PACKET_VALUES, 0);
        for (auto& packet : packets)
        {
            for (uint32_t i = 0; i < PACKET_VALUES; ++i)
            {
                packet[i] = static_cast<int32_t>(random() % 2'000'001) - 1'000'000;
                expected[i] += packet[i];
            }
        }
        for (const auto kind : {FlareSum::Single, FlareSum::Multiple, FlareSum::Tree})
        {
            const auto block = BlockSum::Make(kind, INTEGERS, children, 1 + random() % 5);
            EXPECT_EQ(AddUp(*block, packets, random), expected);
            EXPECT_EQ(block->GetOverflows(), 0U);
        }
    }
}

TEST(BlockSum, CountsWhatLeavesInt32)
{
    std::mt19937 random(1);
    const std::vector<Bits> packets{{INT32_MAX}, {1}};
    const auto block = BlockSum::Make(FlareSum::Single, INTEGERS, 2, 1);
    EXPECT_EQ(AddUp(*block, packets, random), Bits{INT32_MIN});
    EXPECT_EQ(block->GetOverflows(), 1U);
}

TEST(BlockSum, OfFloatsByATreeHasTheSameBitsInEveryOrder)
{
    std::mt19937 random(7);
    uint64_t others = 0; // sums in other orders that differ
    for (uint32_t children = 1; children <= 40; ++children)
    {
        auto tensor = MakeTensor(children);
        SumOrder order;
        std::vector<Bits> packets;
        for (uint32_t child = 0; child < children; ++child)
        {
            order.children.push_back({.worker = child});
            packets.push_back(ToBitPatterns(tensor.GetGradient(child, 5)));
        }
        const auto expected = tensor.AddInOrder(order, 5);
        for (int run = 0; run < 10; ++run)
        {
            auto block = BlockSum::Make(FlareSum::Tree, FLOATS, children, 1);
            EXPECT_EQ(AddUp(*block, packets, random), expected);
            block = BlockSum::Make(FlareSum::Single, FLOATS, children, 1);
            others += AddUp(*block, packets, random) == expected ? 0 : 1;
        }
    }
    EXPECT_GT(others, 300U); // of 400, of which 20 have one child or two
}

TEST(BlockSum, OfFloatsInOneBufferIsThatOfTheOrderOfArrival)
{
    // 1 + 2^-24 is 1, to even; 2^-24 + 2^-24 is 2^-23, which 1 has room for.
    const std::vector<Bits> packets{ToBitPatterns({1.0F}),
                                    ToBitPatterns({0x1p-24F}),
                                    ToBitPatterns({0x1p-24F})};
    const auto add = [&packets](const std::vector<uint32_t>& order) {
        const auto block = BlockSum::Make(FlareSum::Single, FLOATS, 3, 1);
        for (const auto child : order)
        {
            Contribution contribution{.child = child};
            block->Begin(TIMES, contribution, packets[child]);
            EXPECT_FALSE(block->Continue(TIMES, contribution));
        }
        return block->TakeSum();
    };
    EXPECT_EQ(add({0, 1, 2}), ToBitPatterns({1.0F}));
    EXPECT_EQ(add({1, 2, 0}), ToBitPatterns({1.0F + 0x1p-23F}));
}

TEST(BlockSum, OfSparsePacketsHasTheValuesOfAllOfTheirPlaces)
{
    std::mt19937 random(5);
    constexpr BlockArithmetic SPARSE{.addsFloats = false, .isSparse = true};
    for (int run = 0; run < 200; ++run)
    {
        const uint32_t children = 1 + random() % 12;
        std::vector<Bits> packets(children);
        std::map<int32_t, int32_t> expected; // [index]
        for (auto& packet : packets)
        {
            std::map<int32_t, int32_t> entries;
            for (uint32_t i = random() % 20; i > 0; --i)
            {
                entries[static_cast<int32_t>(random() % 50)] =
                    static_cast<int32_t>(random() % 1000);
            }
            for (const auto& [index, value] : entries)
            {
                packet.insert(packet.end(), {index, value});
                expected[index] += value;
            }
        }
        Bits pairs;
        for (const auto& [index, value] : expected)
        {
            pairs.insert(pairs.end(), {index, value});
        }
        for (const auto kind : {FlareSum::Single, FlareSum::Multiple, FlareSum::Tree})
        {
            const auto block = BlockSum::Make(kind, SPARSE, children, 3);
            EXPECT_EQ(AddUp(*block, packets, random), pairs);
        }
    }
}

TEST(FlareTensor, GivesEachWorkerSoManyPlacesOfASparseBlock)
{
    // 200 blocks of 3 of 10 places: each place about 60 times, 4 standard deviations are 26.
    FlareTensor tensor(0,
                       {2, 10, false},
                       {.distribution = GetGradientDistributions()[2],
                        .arithmetic = {.addsFloats = false, .isSparse = true},
                        .entries = 3,
                        .valueBits = 24});
    std::map<int32_t, int> counts;
    for (uint64_t block = 0; block < 200; ++block)
    {
        Bits values;
        tensor.Fill(1, block, values);
        ASSERT_EQ(values.size(), 6U);
        EXPECT_LT(values[0], values[2]);
        EXPECT_LT(values[2], values[4]);
        for (const auto i : {0, 2, 4})
        {
            ++counts[values[i]];
        }
    }
    EXPECT_EQ(counts.size(), 10U);
    for (const auto& [place, count] : counts)
    {
        EXPECT_NEAR(count, 60, 26) << place;
    }
}

TEST(FlareTensor, AddsNeighboursFirst)
{
    auto tensor = MakeTensor(5);
    SumOrder order;
    std::vector<std::vector<float>> x;
    for (uint32_t worker = 0; worker < 5; ++worker)
    {
        order.children.push_back({.worker = worker});
        x.push_back(tensor.GetGradient(worker, 3));
    }
    std::vector<float> sums;
    for (uint32_t i = 0; i < PACKET_VALUES; ++i)
    {
        sums.push_back(((x[0][i] + x[1][i]) + (x[2][i] + x[3][i])) + x[4][i]);
    }
    EXPECT_EQ(tensor.AddInOrder(order, 3), ToBitPatterns(sums));
    // A switch of workers 3 and 4 beside 0, 1 and 2: (x0 + x1) + (x2 + (x3 + x4)).
    order.children.resize(3);
    order.children.push_back({.children = {{.worker = 3}, {.worker = 4}}});
    for (uint32_t i = 0; i < PACKET_VALUES; ++i)
    {
        sums[i] = (x[0][i] + x[1][i]) + (x[2][i] + (x[3][i] + x[4][i]));
    }
    EXPECT_EQ(tensor.AddInOrder(order, 3), ToBitPatterns(sums));
}

TEST(FlareTensor, TakesASumInAnyOrderAndNothingElse)
{
    std::mt19937 random(3);
    auto tensor = MakeTensor(9);
    std::vector<Bits> packets;
    for (uint32_t worker = 0; worker < 9; ++worker)
    {
        packets.push_back(ToBitPatterns(tensor.GetGradient(worker, 0)));
    }
    for (int run = 0; run < 100; ++run)
    {
        tensor.SetOrder({}); // which forgets what the first had
        const auto sum = AddUp(*BlockSum::Make(FlareSum::Multiple, FLOATS, 9, 3), packets, random);
        EXPECT_EQ(tensor.Check(0, sum, false), SumVerdict::Exact);
        auto wrong = sum;
        auto& value = wrong[random() % PACKET_VALUES];
        value = std::bit_cast<int32_t>(std::bit_cast<float>(value) + 0.0001F); // sigma is 0.001
        tensor.SetOrder({});
        EXPECT_EQ(tensor.Check(0, wrong, false), SumVerdict::Wrong);
        EXPECT_EQ(tensor.DescribeDifference(0, wrong),
                  "packet 0 is no sum of the gradients in any order");
    }
}

TEST(FlareTensor, WantsTheSameBitsAtAllWorkersAndThoseOfTheOrder)
{
    auto tensor = MakeTensor(3);
    SumOrder order{.children = {{.worker = 0}, {.worker = 1}, {.worker = 2}}};
    const auto sum = tensor.AddInOrder(order, 0);
    auto other = sum;
    other[7] ^= 1; // the last bit
    EXPECT_EQ(tensor.Check(0, sum, false), SumVerdict::Exact);
    EXPECT_EQ(tensor.Check(0, other, false), SumVerdict::Wrong);
    EXPECT_EQ(tensor.DescribeDifference(0, other), "packet 0 is not that of the other workers");
    EXPECT_EQ(tensor.Check(0, sum, false), SumVerdict::Exact);
    // All three have checked it: what comes now is of other results.
    EXPECT_EQ(tensor.Check(0, other, false), SumVerdict::Exact);
    tensor.SetOrder(order);
    EXPECT_EQ(tensor.Check(0, other, false), SumVerdict::Wrong);
    EXPECT_TRUE(
        tensor.DescribeDifference(0, other).starts_with("number 7 of packet 0 has the bits "));
    EXPECT_EQ(tensor.Check(1, Bits(3), false), SumVerdict::Wrong);
}

TEST(HandlerCoresTest, ServeWhoComesFirstAndCountWhatTheyDo)
{
    // Two cores, handlers of 5, 3, 4 and 1 ns at 0, and one of 2 ns at 20 ns: 0-5, 0-3, 3-7, 5-6
    // and 20-22. Two wait, for 3 and 5 ns.
    HandlerCores cores(2, 0);
    std::vector<int64_t> ends;
    const auto enter = [&](int64_t time) {
        cores.Enter([&ends, time, begun = false]() mutable -> std::optional<Time> {
            if (!std::exchange(begun, true))
            {
                return NanoSeconds(time);
            }
            ends.push_back(Simulator::Now().GetNanoSeconds());
            return std::nullopt;
        });
    };
    for (const auto time : {5, 3, 4, 1})
    {
        enter(time);
    }
    Simulator::Schedule(NanoSeconds(20), [&] { enter(2); });
    Simulator::Run();
    Simulator::Destroy();
    EXPECT_EQ(ends, (std::vector<int64_t>{3, 5, 6, 7, 22}));
    EXPECT_EQ(cores.GetStatistics().handlers, 5U);
    EXPECT_EQ(cores.GetStatistics().busy, NanoSeconds(15));
    EXPECT_EQ(cores.GetStatistics().wait, NanoSeconds(3 + 5));
    EXPECT_EQ(cores.GetStatistics().longestQueue, 2U);
}

} // namespace
} // namespace ns3::gradsync
