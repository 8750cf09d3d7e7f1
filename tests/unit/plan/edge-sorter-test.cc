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
Sort(const Edges& edges, size_t operations, uint32_t copies = 1)
{
    PackedRows<2> rows;
    for (const auto& [earlier, later] : edges)
    {
        rows.Append({earlier, later});
    }
    return SortEdges(rows, operations, copies);
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
                edges.push_back({random() % operations, random() % operations});
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

std::vector<uint32_t>
ListIds(const OperationIdTable& table)
{
    std::vector<uint32_t> ids;
    table.ForEachItem(0, table.GetSize(), [&ids](size_t, OperationId id) { ids.push_back(id); });
    return ids;
}

std::vector<uint32_t>
ListCounts(const PackedRows<1>& rows)
{
    std::vector<uint32_t> counts;
    rows.ForEachValue(0, rows.GetSize(), [&counts](size_t, uint32_t count) {
        counts.push_back(count);
    });
    return counts;
}

TEST(SortEdges, GivesCopiesAsIfTheirEdgesWereAmongTheOthers)
{
    std::mt19937 random(2);
    for (const uint32_t operations : {1U, 3U, 128U, 200U, 256U, 5'000U})
    {
        const auto copies = static_cast<uint32_t>(random() % 5 + 1);
        Edges edges;
        for (auto count = random() % (3 * operations); count > 0; --count)
        {
            edges.push_back({random() % operations, random() % operations});
        }
        Edges all;
        for (uint32_t copy = 0; copy < copies; ++copy)
        {
            for (const auto& [earlier, later] : edges)
            {
                all.emplace_back(earlier + copy * operations, later + copy * operations);
            }
        }
        const auto copied = Sort(edges, operations, copies);
        const auto sorted = Sort(all, size_t{operations} * copies);
        EXPECT_EQ(ListIds(copied.offsets), ListIds(sorted.offsets)) << operations;
        EXPECT_EQ(ListIds(copied.successors), ListIds(sorted.successors)) << operations;
        EXPECT_EQ(ListCounts(copied.predecessors), ListCounts(sorted.predecessors)) << operations;
        EXPECT_EQ(copied.areForward, sorted.areForward);
    }
}

TEST(SortEdges, RefusesOperationsThatAreNotThere)
{
    EXPECT_THROW(Sort({{0, 2}}, 2), std::logic_error);
    EXPECT_THROW(Sort({{2, 0}}, 2), std::logic_error);
}

} // namespace

} // namespace ns3::gradsync
