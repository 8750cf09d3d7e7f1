// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/edge-sorter.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

using Edges = std::vector<std::pair<uint32_t, uint32_t>>;

SortedEdges
Sort(const Edges& edges, size_t operations)
{
    PackedRows<2> rows;
    for (const auto& [earlier, later] : edges)
    {
        rows.Append({earlier, later});
    }
    return SortEdges(rows, operations);
}

/// By a set of pairs, which sorts them and leaves repeated ones out.
void
ExpectSorted(const Edges& edges, size_t operations)
{
    const auto sorted = Sort(edges, operations);
    const std::set<std::pair<uint32_t, uint32_t>> expected(edges.begin(), edges.end());
    std::vector<uint32_t> predecessors(operations);
    auto edge = expected.begin();
    ASSERT_EQ(sorted.offsets.GetSize(), operations + 1);
    ASSERT_EQ(sorted.predecessors.GetSize(), operations);
    for (uint32_t id = 0; id < operations; ++id)
    {
        for (auto i = sorted.offsets.MakeItem(id); i < sorted.offsets.MakeItem(id + 1); ++i, ++edge)
        {
            const std::pair found{id, sorted.successors.MakeItem(i)};
            ASSERT_EQ(found, *edge);
            ++predecessors[edge->second];
        }
    }
    ASSERT_EQ(edge, expected.end());
    for (uint32_t id = 0; id < operations; ++id)
    {
        ASSERT_EQ(sorted.predecessors.Get(id, 0), predecessors[id]) << id;
    }
    EXPECT_EQ(sorted.areForward, std::all_of(edges.begin(), edges.end(), [](const auto& pair) {
                  return pair.first < pair.second;
              }));
}

TEST(SortEdges, OfNoneGivesEmptyRows)
{
    ExpectSorted({}, 0);
    ExpectSorted({}, 5000);
}

TEST(SortEdges, SortsAnyOrderAndLeavesRepeatedOnesOut)
{
    std::mt19937 random(1);
    for (const uint32_t operations : {1U, 2U, 70U, 5'000U, 200'000U})
    {
        for (const uint32_t count : {1U, 100U, 300'000U})
        {
            Edges edges;
            for (uint32_t i = 0; i < count; ++i)
            {
                edges.emplace_back(random() % operations, random() % operations);
            }
            SCOPED_TRACE(count);
            ExpectSorted(edges, operations);
        }
    }
}

TEST(SortEdges, SortsEdgesThatNearlyAscend)
{
    // As of a ring of 1000 ranks: step by step, but for the first rank, which gets from the last.
    // Several hundred thousand, so that rows are written before all edges were read.
    constexpr uint32_t RANKS = 1000;
    Edges edges;
    for (uint32_t id = RANKS; id < 400 * RANKS; ++id)
    {
        edges.emplace_back(id / RANKS * RANKS - RANKS + (id + RANKS - 1) % RANKS, id);
    }
    ExpectSorted(edges, size_t{400} * RANKS);
    // Descending, which is as far from that as can be.
    std::reverse(edges.begin(), edges.end());
    ExpectSorted(edges, size_t{400} * RANKS);
}

TEST(SortEdges, RefusesOperationsThatAreNotThere)
{
    EXPECT_THROW(Sort({{0, 2}}, 2), std::logic_error);
    EXPECT_THROW(Sort({{2, 0}}, 2), std::logic_error);
}

} // namespace

} // namespace ns3::gradsync
