// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-builder.h"
#include "ns3/round-counter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <iterator>
#include <numeric>
#include <random>
#include <vector>

namespace ns3::gradsync
{
namespace
{

/// By the definition, round after round: each operation is as deep as the deepest before it, and
/// one more behind a transfer; all of an aggregation are as deep as the deepest of them. Repeated
/// until nothing changes, as often as the longest path has edges.
std::vector<uint64_t>
CountDirectly(const Plan& plan)
{
    const auto operations = plan.GetOperations();
    std::vector<uint64_t> depth(operations.size(), 0);
    for (bool changes = true; changes;)
    {
        changes = false;
        const auto raise = [&](OperationId id, uint64_t least) {
            changes = changes || depth[id] < least;
            depth[id] = std::max(depth[id], least);
        };
        for (OperationId id = 0; id < operations.size(); ++id)
        {
            const auto members = plan.GetMembers(id);
            for (auto member = members.first; member < members.last; ++member)
            {
                raise(member, depth[id]);
            }
            for (const auto successor : plan.GetSuccessors(id))
            {
                raise(successor, depth[id] + (operations[id].IsTransfer() ? 1 : 0));
            }
        }
    }
    std::vector<uint64_t> counts;
    for (OperationId id = 0; id < operations.size(); ++id)
    {
        if (operations[id].IsTransfer())
        {
            counts.resize(std::max<size_t>(counts.size(), depth[id] + 1));
            ++counts[depth[id]];
        }
    }
    return counts;
}

/// Random transfers and joins, and aggregations of three ranks, with random edges: along an order
/// of all of them that is not that of their ids. Aggregations of a group keep theirs.
Plan
MakeRandomPlan(uint32_t steps, std::mt19937& random)
{
    constexpr uint32_t RANKS = 6;
    PlanBuilder builder(RANKS, RANKS, ChunkLayout::Even(60, 1));
    const auto group = builder.AddAggregationGroup({0, 2, 5}, {.name = "any"});
    std::vector<std::vector<OperationId>> items; // what is one: the members of an aggregation
    for (uint32_t i = 0; i < steps; ++i)
    {
        const auto kind = random() % 8;
        if (kind == 0)
        {
            const auto first = builder.AddAggregate(group, 0, 1);
            items.push_back({first, first + 1, first + 2});
        }
        else if (kind < 3)
        {
            items.push_back({builder.AddJoin(random() % RANKS)});
        }
        else
        {
            const uint32_t src = random() % RANKS;
            items.push_back(
                {builder.AddCopy(src, (src + 1 + random() % (RANKS - 1)) % RANKS, 0, 1)});
        }
    }
    // An order in which single ones stand anywhere; aggregations fall into the places of theirs.
    std::vector<size_t> order(items.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<size_t> aggregations;
    std::copy_if(order.begin(), order.end(), std::back_inserter(aggregations), [&](size_t item) {
        return items[item].size() > 1;
    });
    std::sort(aggregations.begin(), aggregations.end());
    auto next = aggregations.begin();
    for (auto& item : order)
    {
        item = items[item].size() > 1 ? *next++ : item;
    }
    for (uint32_t i = 0; i < 2 * steps && steps > 1; ++i)
    {
        const auto place = random() % (steps - 1);
        const auto later = place + 1 + random() % std::min<size_t>(steps - 1 - place, 50);
        const auto& from = items[order[place]];
        const auto& to = items[order[later]];
        const auto first = from[random() % from.size()];
        builder.AddEdge(first, to[random() % to.size()]);
    }
    return builder.Build();
}

TEST(RoundCounter, CountsRandomPlansAsByTheDefinition)
{
    std::mt19937 random(8);
    for (const uint32_t steps : {1U, 2U, 10U, 100U, 1000U, 10'000U})
    {
        for (int i = 0; i < (steps < 1000 ? 20 : 2); ++i)
        {
            const auto plan = MakeRandomPlan(steps, random);
            ASSERT_EQ(RoundCounter(plan).Count(), CountDirectly(plan)) << steps;
        }
    }
}

TEST(RoundCounter, HoldsOfAPlanWhatIsUnderWay)
{
    // Step s of rank r waits for step s-1 of rank r-1: what is neither untouched nor passed are the
    // 300 operations of at most two steps, on at most two pages of 4,096. The plan has 74 pages.
    constexpr uint32_t RANKS = 300;
    constexpr uint32_t STEPS = 1000;
    PlanBuilder builder(RANKS, RANKS, ChunkLayout::Even(4, 1));
    for (uint32_t step = 0; step < STEPS; ++step)
    {
        for (uint32_t rank = 0; rank < RANKS; ++rank)
        {
            const auto id = builder.AddCopy(rank, (rank + 1) % RANKS, 0, 1);
            if (step > 0)
            {
                builder.AddEdge((step - 1) * RANKS + (rank + RANKS - 1) % RANKS, id);
            }
        }
    }
    const auto plan = builder.Build();
    RoundCounter counter(plan);
    EXPECT_EQ(counter.Count(), std::vector<uint64_t>(STEPS, RANKS));
    EXPECT_EQ(counter.GetMostPages(), 2U);
}

} // namespace
} // namespace ns3::gradsync
