// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-verifier.h"

#include "ns3/chunk-race-finder.h"
#include "ns3/plan-graph.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <span>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// At how many workers a message stops listing those that are missing.
constexpr size_t MAX_LISTED = 8;

std::string
DescribePlace(uint32_t rank, uint32_t buffer)
{
    return buffer == 0 ? fmt::format("rank {}", rank)
                       : fmt::format("rank {}'s buffer {}", rank, buffer);
}

std::string
Describe(const Plan& plan, OperationId id)
{
    const auto& operation = plan.GetOperations()[id];
    if (operation.IsAggregate())
    {
        return fmt::format("operation {} (aggregate of group {} at rank {})",
                           id,
                           operation.stream,
                           operation.src);
    }
    const auto* verb = operation.kind == OperationKind::TransferReduce ? "reduce" : "copy";
    return fmt::format("operation {} ({} {} -> {})",
                       id,
                       verb,
                       DescribePlace(operation.src, operation.buffers.src),
                       DescribePlace(operation.dst, operation.buffers.dst));
}

/// One set of workers per buffer of each rank, for one chunk.
class ContributionSets
{
  public:
    /// A place is a buffer of a rank: rank * buffers + buffer.
    ContributionSets(uint32_t ranks, uint32_t buffers, uint32_t workers)
        : m_buffers(buffers),
          m_workers(workers),
          m_words((workers + 63) / 64),
          m_bits(size_t{ranks} * buffers * m_words)
    {
    }

    uint32_t GetPlace(uint32_t rank, uint32_t buffer) const
    {
        return rank * m_buffers + buffer;
    }

    /// Every source holds its own gradient, and nobody anything else.
    void Reset(uint32_t source)
    {
        std::fill(m_bits.begin(), m_bits.end(), 0);
        for (uint32_t worker = 0; worker < m_workers; ++worker)
        {
            if (source == Collective::ALL || source == worker)
            {
                GetSet(GetPlace(worker, 0))[worker / 64] = uint64_t{1} << (worker % 64);
            }
        }
    }

    bool IsEmpty(uint32_t place) const
    {
        const auto set = GetSet(place);
        return std::all_of(set.begin(), set.end(), [](uint64_t word) { return word == 0; });
    }

    /// A worker that is in both sets.
    std::optional<uint32_t> FindCommon(uint32_t a, uint32_t b) const
    {
        for (uint32_t word = 0; word < m_words; ++word)
        {
            if (const uint64_t both = GetSet(a)[word] & GetSet(b)[word]; both != 0)
            {
                return word * 64 + static_cast<uint32_t>(std::countr_zero(both));
            }
        }
        return std::nullopt;
    }

    void Add(uint32_t src, uint32_t dst)
    {
        for (uint32_t word = 0; word < m_words; ++word)
        {
            GetSet(dst)[word] |= GetSet(src)[word];
        }
    }

    void Copy(uint32_t src, uint32_t dst)
    {
        std::ranges::copy(GetSet(src), GetSet(dst).begin());
    }

    /// The sources whose gradient is not at a place.
    std::vector<uint32_t> GetMissing(uint32_t place, uint32_t source) const
    {
        std::vector<uint32_t> missing;
        for (uint32_t worker = 0; worker < m_workers; ++worker)
        {
            const bool isWanted = source == Collective::ALL || source == worker;
            if (isWanted && (GetSet(place)[worker / 64] >> (worker % 64) & 1) == 0)
            {
                missing.push_back(worker);
            }
        }
        return missing;
    }

  private:
    std::span<uint64_t> GetSet(uint32_t place)
    {
        return {m_bits.data() + size_t{place} * m_words, m_words};
    }

    std::span<const uint64_t> GetSet(uint32_t place) const
    {
        return {m_bits.data() + size_t{place} * m_words, m_words};
    }

    uint32_t m_buffers;
    uint32_t m_workers;
    uint32_t m_words;
    std::vector<uint64_t> m_bits;
};

/// One run of the verifier over one plan.
class Verification
{
  public:
    Verification(const Plan& plan, size_t maxViolations)
        : m_plan(plan),
          m_maxViolations(maxViolations),
          m_graph(plan),
          m_raceFinder(plan, m_graph),
          m_sets(plan.GetRankCount(), plan.GetBufferCount(), plan.GetWorkerCount())
    {
    }

    PlanVerification Run()
    {
        const auto& layout = m_plan.GetLayout();
        for (uint32_t chunk = 0; chunk < layout.GetChunkCount() && !IsFull(); ++chunk)
        {
            if (layout.GetBytes(chunk, 1) > 0)
            {
                FindRaces(chunk);
                Execute(chunk);
                CheckResult(chunk);
            }
        }
        m_result.ok = m_result.violations.empty();
        return std::move(m_result);
    }

  private:
    bool IsFull() const
    {
        return m_result.violations.size() >= m_maxViolations;
    }

    void Report(std::string violation)
    {
        if (!IsFull())
        {
            m_result.violations.push_back(std::move(violation));
        }
    }

    void FindRaces(uint32_t chunk)
    {
        const size_t room = m_maxViolations - m_result.violations.size();
        for (const auto& race : m_raceFinder.Find(chunk, room))
        {
            Report(fmt::format("race on chunk {} at {}: expected an edge or a path that orders "
                               "{} before {}, or the other way round",
                               chunk,
                               DescribePlace(race.rank, race.buffer),
                               Describe(m_plan, race.first),
                               Describe(m_plan, race.second)));
        }
    }

    void Execute(uint32_t chunk)
    {
        m_sets.Reset(m_plan.GetCollective().GetSource(chunk));
        for (const auto id : m_graph.GetTransfers(chunk))
        {
            const auto& operation = m_plan.GetOperations()[id];
            if (operation.IsAggregate())
            {
                Aggregate(id, chunk);
                continue;
            }
            const auto src = m_sets.GetPlace(operation.src, operation.buffers.src);
            const auto dst = m_sets.GetPlace(operation.dst, operation.buffers.dst);
            CheckSource(id, chunk, src);
            if (operation.kind == OperationKind::TransferCopy)
            {
                m_sets.Copy(src, dst);
                continue;
            }
            CheckDisjoint(id, chunk, src, dst);
            m_sets.Add(src, dst);
        }
    }

    /// All operations of an aggregation at once, when the walk comes to the first.
    void Aggregate(OperationId id, uint32_t chunk)
    {
        const auto members = m_plan.GetMembers(id);
        if (id != members.first)
        {
            return;
        }
        const auto placeOf = [this](OperationId member) {
            return m_sets.GetPlace(m_plan.GetOperations()[member].src, 0);
        };
        const auto sum = placeOf(id);
        CheckSource(id, chunk, sum);
        for (auto member = members.first + 1; member < members.last; ++member)
        {
            CheckSource(member, chunk, placeOf(member));
            CheckDisjoint(member, chunk, placeOf(member), sum);
            m_sets.Add(placeOf(member), sum);
        }
        for (auto member = members.first + 1; member < members.last; ++member)
        {
            m_sets.Copy(sum, placeOf(member));
        }
    }

    void CheckSource(OperationId id, uint32_t chunk, uint32_t place)
    {
        if (m_sets.IsEmpty(place))
        {
            const auto& operation = m_plan.GetOperations()[id];
            Report(fmt::format("{} of chunk {}: expected data at {}, which holds none",
                               Describe(m_plan, id),
                               chunk,
                               DescribePlace(operation.src, operation.buffers.src)));
        }
    }

    void CheckDisjoint(OperationId id, uint32_t chunk, uint32_t src, uint32_t dst)
    {
        const auto twice = m_sets.FindCommon(src, dst);
        if (twice && m_plan.GetCollective().GetSum() == Collective::Sum::Exact)
        {
            Report(fmt::format("{} of chunk {}: expected disjoint contributions, but both "
                               "hold the gradient of worker {}",
                               Describe(m_plan, id),
                               chunk,
                               *twice));
        }
    }

    void CheckResult(uint32_t chunk)
    {
        const auto source = m_plan.GetCollective().GetSource(chunk);
        const auto target = m_plan.GetCollective().GetTarget(chunk);
        for (uint32_t worker = 0; worker < m_plan.GetWorkerCount() && !IsFull(); ++worker)
        {
            auto missing = m_sets.GetMissing(m_sets.GetPlace(worker, 0), source);
            if (missing.empty() || (target != Collective::ALL && target != worker))
            {
                continue;
            }
            const size_t count = missing.size();
            missing.resize(std::min(count, MAX_LISTED));
            Report(fmt::format("chunk {} at worker {} at the end: expected the gradient{} of {}, "
                               "but {} {} missing: {}{}",
                               chunk,
                               worker,
                               source == Collective::ALL ? "s" : "",
                               source == Collective::ALL
                                   ? fmt::format("all {} workers", m_plan.GetWorkerCount())
                                   : fmt::format("worker {}", source),
                               count,
                               source == Collective::ALL ? "are" : "is",
                               fmt::join(missing, ", "),
                               count > MAX_LISTED ? ", ..." : ""));
        }
    }

    const Plan& m_plan;
    size_t m_maxViolations;
    PlanGraph m_graph;
    ChunkRaceFinder m_raceFinder;
    ContributionSets m_sets;
    PlanVerification m_result;
};

} // namespace

PlanVerifier::PlanVerifier(size_t maxViolations)
    : m_maxViolations(std::max<size_t>(maxViolations, 1))
{
}

PlanVerification
PlanVerifier::Verify(const Plan& plan) const
{
    return Verification(plan, m_maxViolations).Run();
}

} // namespace ns3::gradsync
