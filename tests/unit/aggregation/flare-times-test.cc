// SPDX-License-Identifier: GPL-2.0-only
// FLARE: the time that handlers take, against closed forms and a queue by hand. Part of
// aggregation-tests.
#include "unit/aggregation/flare-fixture.h"

#include <algorithm>
#include <bit>
#include <gmock/gmock.h>
#include <queue>
#include <random>
#include <vector>

namespace ns3::gradsync
{
namespace
{

/// From 0 to below that.
int64_t
DrawBelow(std::mt19937& random, uint64_t end)
{
    return static_cast<int64_t>(random() % end);
}

/// Least k with 2^k >= n.
int64_t
CountLevels(uint32_t n)
{
    return std::bit_width(n - 1);
}

TEST_F(FlareTest, APacketOfEachTakesTheTimeOfItsHandlers)
{
    // All arrive at once and have a core each, with which they wait for the buffer: the first
    // copies its values, the others add theirs one after another; so in each of B buffers, with
    // ceil(n/B) packets in the first, and then B - 1 times for the sum of all; in a tree level by
    // level.
    for (uint32_t n = 2; n <= 9; ++n)
    {
        for (const auto& sum : SUMS)
        {
            Restart();
            Set("Values", StringValue("real"));
            Set("flare.Buffers", UintegerValue(3));
            const auto costs = SetCosts(100, 1, 3);
            InstallStar(n, FLARE_RATE);
            const auto time = Run(MakeFlareJob(n, 1, sum)).front();
            const uint32_t buffers = std::min(n, 3U);
            const int64_t adds = sum == "single"     ? n - 1
                                 : sum == "multiple" ? (n + buffers - 1) / buffers - 1 + buffers - 1
                                                     : CountLevels(n);
            EXPECT_EQ(time, ONE_WAY * 2 + costs.fixed + costs.copy + costs.add * adds)
                << n << " " << sum;
            ExpectExactSums(n);
        }
    }
}

TEST_F(FlareTest, OneCoreIsAsFastAsItsHandlersOrTheLinks)
{
    // A block takes S: n f + c + (n - 1) a, in a tree n (f + c) + (n - 1) a, and n packets come
    // each t. The last block is done max(t, S) (M - 1) after the first came, and S.
    std::mt19937 random(24);
    for (int run = 0; run < 60; ++run)
    {
        Restart();
        Set("Values", StringValue("real"));
        const auto n = static_cast<uint32_t>(2 + random() % 6);
        const auto packets = static_cast<int64_t>(1 + random() % 40);
        const auto& sum = SUMS[random() % 3];
        const auto fixed = DrawBelow(random, 300);
        const auto copy = DrawBelow(random, 2);
        const auto costs = SetCosts(fixed, copy, DrawBelow(random, 3));
        Set("flare.Cores", UintegerValue(1));
        InstallStar(n, FLARE_RATE);
        const auto time = Run(MakeFlareJob(n, packets, sum)).front();
        const auto block = costs.fixed * int64_t{n} +
                           costs.copy * (sum == "tree" ? int64_t{n} : int64_t{1}) +
                           costs.add * int64_t{n - 1};
        EXPECT_EQ(time, ONE_WAY * 2 + std::max(MicroSeconds(1), block) * (packets - 1) + block)
            << sum << n << packets;
        EXPECT_EQ(GetAggregated().busiestCores, block * packets);
        EXPECT_EQ(GetAggregated().handlers, n * static_cast<uint64_t>(packets));
    }
}

/// When all have the sums of M packets of n workers through one buffer for each: cores in a queue,
/// and a buffer that one handler has at a time, whose core waits with it.
Time
QueueByHand(uint32_t n, int64_t packets, uint32_t cores, const Costs& costs)
{
    std::priority_queue<Time, std::vector<Time>, std::greater<>> free;
    for (uint32_t core = 0; core < cores; ++core)
    {
        free.push(Time(0));
    }
    std::vector<Time> ends;
    for (int64_t packet = 0; packet < packets; ++packet)
    {
        const auto arrival = ONE_WAY + MicroSeconds(1) * packet;
        Time buffer;
        for (uint32_t worker = 0; worker < n; ++worker)
        {
            const auto start = std::max(arrival, free.top());
            free.pop();
            buffer = std::max(start + costs.fixed, buffer) + (worker == 0 ? costs.copy : costs.add);
            free.push(buffer);
        }
        ends.push_back(buffer);
    }
    std::ranges::sort(ends);
    Time link; // free to send results
    for (const auto& end : ends)
    {
        link = std::max(link, end) + MicroSeconds(1);
    }
    return link + MicroSeconds(2);
}

TEST_F(FlareTest, OneBufferTakesTheTimeOfAQueueByHand)
{
    std::mt19937 random(7);
    for (int run = 0; run < 60; ++run)
    {
        Restart();
        const auto n = static_cast<uint32_t>(2 + random() % 8);
        const auto packets = static_cast<int64_t>(1 + random() % 50);
        const auto cores = static_cast<uint32_t>(1 + random() % 20);
        const auto fixed = 1 + DrawBelow(random, 400);
        const auto copy = DrawBelow(random, 3);
        const auto costs = SetCosts(fixed, copy, 1 + DrawBelow(random, 5));
        Set("flare.Cores", UintegerValue(cores));
        InstallStar(n, FLARE_RATE);
        EXPECT_EQ(Run(MakeFlareJob(n, packets, "single")).front(),
                  QueueByHand(n, packets, cores, costs))
            << n << " workers, " << packets << " packets, " << cores << " cores";
    }
}

TEST_F(FlareTest, CoresAreAsFastTogetherAsTheyCanBe)
{
    // In a tree no handler waits for another: with work for all of C cores, M blocks take at least
    // M S / C, and at most a handler longer (Graham's bound for lists).
    std::mt19937 random(5);
    for (int run = 0; run < 30; ++run)
    {
        Restart();
        const auto n = static_cast<uint32_t>(4 + random() % 8);
        const auto cores = static_cast<uint32_t>(2 + random() % 5);
        const auto packets = static_cast<int64_t>(20 + random() % 60);
        const auto fixed = DrawBelow(random, 400);
        const auto copy = 2 + DrawBelow(random, 3);
        const auto costs = SetCosts(fixed, copy, 4 + DrawBelow(random, 3));
        Set("flare.Cores", UintegerValue(cores));
        InstallStar(n, FLARE_RATE);
        const auto time = Run(MakeFlareJob(n, packets, "tree")).front() - ONE_WAY * 2;
        const auto block = (costs.fixed + costs.copy) * int64_t{n} + costs.add * int64_t{n - 1};
        ASSERT_GT(block.GetTimeStep(), MicroSeconds(cores).GetTimeStep()); // cores bind, not links
        const Time least((block * packets).GetTimeStep() / cores);
        EXPECT_GE(time, least);
        EXPECT_LE(time, least + costs.fixed + costs.copy + costs.add * CountLevels(n));
        EXPECT_EQ(GetAggregated().busiestCores, least);
        EXPECT_GT(GetAggregated().longestHandlerQueue, 0U);
        EXPECT_GT(GetAggregated().handlerWait, Time(0));
    }
}

TEST_F(FlareTest, TakesTimeAtEachSwitchOfItsTree)
{
    // Leaves of two workers, a root of three leaves: a packet is added once, then twice; what comes
    // down is copied at the leaf.
    const auto costs = SetCosts(100, 1, 3);
    InstallFlareRacks(3, 2);
    EXPECT_EQ(Run(MakeFlareJob(6, 1, "single")).front(),
              ONE_WAY * 4 + (costs.fixed + costs.copy) * 3 + costs.add * 3);
}

TEST_F(FlareTest, AShortPacketTakesLess)
{
    // 3 values of a packet, of which the last one is one byte long: 100 + 3 (1 + 3) ns.
    SetCosts(100, 1, 3);
    InstallStar(2, FLARE_RATE);
    auto request = MakeRequest("flare", 2, 9);
    request.elementBytes = 1;
    const auto wire = FLARE_RATE.CalculateBytesTxTime(86 + 9);
    const auto time = Run(MakeJob("flare", request, 1)).front();
    EXPECT_NEAR((time - (wire + MicroSeconds(2)) * 2 - NanoSeconds(112)).GetPicoSeconds(), 0, 2);
}

} // namespace
} // namespace ns3::gradsync
