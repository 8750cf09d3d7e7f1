// SPDX-License-Identifier: GPL-2.0-only
// Races against a search that looks at all pairs and all paths.
#include "ns3/plan-builder.h"
#include "ns3/plan-verifier.h"

#include <algorithm>
#include <cstdio>
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

constexpr uint32_t RACING_RANKS = 3;
constexpr uint32_t RACED_CHUNKS = 2;

using Places = std::set<std::pair<uint32_t, uint32_t>>; // chunk, rank

/// Operations of random kinds with random edges that make no cycle, whatever their ids.
class RandomPlan
{
  public:
    RandomPlan(std::mt19937& random, uint32_t operations, uint32_t edgesInTen)
        : m_before(operations, std::vector<bool>(operations))
    {
        for (uint32_t i = 0; i < operations; ++i)
        {
            const uint32_t src = random() % RACING_RANKS;
            const uint32_t dst = (src + 1 + random() % (RACING_RANKS - 1)) % RACING_RANKS;
            const uint32_t first = random() % RACED_CHUNKS;
            const uint32_t count = 1 + random() % (RACED_CHUNKS - first);
            switch (random() % 4)
            {
            case 0:
                m_builder.AddJoin(src);
                break;
            case 1:
                m_builder.AddCopy(src, dst, first, count);
                break;
            default:
                m_builder.AddReduce(src, dst, first, count);
            }
        }
        std::vector<OperationId> order(operations);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        for (uint32_t later = 0; later < operations; ++later)
        {
            for (uint32_t earlier = 0; earlier < later; ++earlier)
            {
                if (random() % 10 < edgesInTen)
                {
                    m_builder.AddEdge(order[earlier], order[later]);
                    AddPath(order[earlier], order[later]);
                }
            }
        }
    }

    Plan Build()
    {
        return m_builder.Build();
    }

    /// Where two accesses conflict that no path orders.
    Places FindRaces(const Plan& plan) const
    {
        Places races;
        for (uint32_t chunk = 0; chunk < RACED_CHUNKS; ++chunk)
        {
            for (uint32_t rank = 0; rank < RACING_RANKS; ++rank)
            {
                if (IsRacy(ListAccesses(plan, chunk, rank)))
                {
                    races.insert({chunk, rank});
                }
            }
        }
        return races;
    }

  private:
    using Access = std::pair<OperationId, char>; // r: reads, +: adds, c: copies

    /// Edges come in the order of what is later, so that all before `earlier` is known.
    void AddPath(OperationId earlier, OperationId later)
    {
        m_before[later][earlier] = true;
        for (OperationId id = 0; id < m_before.size(); ++id)
        {
            m_before[later][id] = m_before[later][id] || m_before[earlier][id];
        }
    }

    static std::vector<Access> ListAccesses(const Plan& plan, uint32_t chunk, uint32_t rank)
    {
        std::vector<Access> accesses;
        const auto operations = plan.GetOperations();
        for (OperationId id = 0; id < operations.size(); ++id)
        {
            const auto& operation = operations[id];
            if (!operation.IsMove() || chunk - operation.firstChunk >= operation.chunkCount)
            {
                continue;
            }
            if (operation.src == rank)
            {
                accesses.emplace_back(id, 'r');
            }
            if (operation.dst == rank)
            {
                accesses.emplace_back(id,
                                      operation.kind == OperationKind::TransferReduce ? '+' : 'c');
            }
        }
        return accesses;
    }

    bool IsRacy(const std::vector<Access>& accesses) const
    {
        for (const auto& [one, does] : accesses)
        {
            for (const auto& [other, doesOther] : accesses)
            {
                const bool isConflict = one != other && (does != doesOther || does == 'c');
                if (isConflict && !m_before[one][other] && !m_before[other][one])
                {
                    return true;
                }
            }
        }
        return false;
    }

    PlanBuilder m_builder{RACING_RANKS,
                          RACING_RANKS,
                          ChunkLayout::Even(uint64_t{64} * RACED_CHUNKS, RACED_CHUNKS)};
    std::vector<std::vector<bool>> m_before; //!< [operation][operation before it, by any path]
};

Places
GetReported(const Plan& plan)
{
    Places places;
    for (const auto& violation : PlanVerifier(1000).Verify(plan).violations)
    {
        uint32_t chunk = 0;
        uint32_t rank = 0;
        if (std::sscanf(violation.c_str(), "race on chunk %u at rank %u:", &chunk, &rank) == 2)
        {
            places.insert({chunk, rank});
        }
    }
    return places;
}

TEST(PlanRaces, AreFoundWhereverNoPathOrdersAConflictAndNowhereElse)
{
    // From no edges to nearly all: with and without paths by joins and by other chunks.
    std::mt19937 random(5);
    std::map<bool, int> count;
    for (int round = 0; round < 3000; ++round)
    {
        const auto size = 2 + random() % 12;
        RandomPlan randomPlan(random, size, random() % 10);
        const auto plan = randomPlan.Build();
        const auto expected = randomPlan.FindRaces(plan);
        ASSERT_EQ(GetReported(plan), expected) << "round " << round;
        ++count[expected.empty()];
    }
    EXPECT_GT(count[true], 300);
    EXPECT_GT(count[false], 300);
}

} // namespace
} // namespace ns3::gradsync
