// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-verifier.h"

#include "ns3/chunk-race-finder.h"
#include "ns3/plan-order.h"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
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

/// Workers whose gradient is in a buffer of a rank, for one chunk.
using Contributions = boost::dynamic_bitset<uint64_t>;

/// One run of the verifier over one plan.
class Verification
{
  public:
    Verification(const Plan& plan, size_t maxViolations)
        : m_plan(plan),
          m_maxViolations(maxViolations),
          m_transfers(plan),
          m_raceFinder(plan, m_transfers),
          m_sets(size_t{plan.GetRankCount()} * plan.GetBufferCount(),
                 Contributions(plan.GetWorkerCount()))
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

    Contributions& At(uint32_t rank, uint32_t buffer)
    {
        return m_sets[size_t{rank} * m_plan.GetBufferCount() + buffer];
    }

    /// Every source holds its own gradient, and nobody anything else.
    void Reset(uint32_t source)
    {
        for (auto& set : m_sets)
        {
            set.reset();
        }
        for (uint32_t worker = 0; worker < m_plan.GetWorkerCount(); ++worker)
        {
            if (source == Collective::ALL || source == worker)
            {
                At(worker, 0).set(worker);
            }
        }
    }

    void Execute(uint32_t chunk)
    {
        Reset(m_plan.GetCollective().GetSource(chunk));
        for (const auto id : m_transfers.Get(chunk))
        {
            const auto& operation = m_plan.GetOperations()[id];
            if (operation.IsAggregate())
            {
                Aggregate(id, chunk);
                continue;
            }
            const auto& src = At(operation.src, operation.buffers.src);
            auto& dst = At(operation.dst, operation.buffers.dst);
            CheckSource(id, chunk, src);
            if (operation.kind == OperationKind::TransferCopy)
            {
                dst = src;
                continue;
            }
            CheckDisjoint(id, chunk, src, dst);
            dst |= src;
        }
    }

    Contributions& OfMember(OperationId member)
    {
        return At(m_plan.GetOperations()[member].src, 0);
    }

    /// All operations of an aggregation at once, when the walk comes to the first.
    void Aggregate(OperationId id, uint32_t chunk)
    {
        const auto members = m_plan.GetMembers(id);
        if (id != members.first)
        {
            return;
        }
        Contributions sum(m_plan.GetWorkerCount());
        for (auto member = members.first; member < members.last; ++member)
        {
            if (m_plan.GivesToAggregation(m_plan.GetOperations()[member]))
            {
                CheckSource(member, chunk, OfMember(member));
                CheckDisjoint(member, chunk, OfMember(member), sum);
                sum |= OfMember(member);
            }
        }
        for (auto member = members.first; member < members.last; ++member)
        {
            if (m_plan.GetsFromAggregation(m_plan.GetOperations()[member]))
            {
                OfMember(member) = sum;
            }
        }
    }

    void CheckSource(OperationId id, uint32_t chunk, const Contributions& set)
    {
        if (set.none())
        {
            const auto& operation = m_plan.GetOperations()[id];
            Report(fmt::format("{} of chunk {}: expected data at {}, which holds none",
                               Describe(m_plan, id),
                               chunk,
                               DescribePlace(operation.src, operation.buffers.src)));
        }
    }

    void CheckDisjoint(OperationId id,
                       uint32_t chunk,
                       const Contributions& src,
                       const Contributions& dst)
    {
        if (src.intersects(dst) && m_plan.GetCollective().GetSum() == Collective::Sum::Exact)
        {
            Report(fmt::format("{} of chunk {}: expected disjoint contributions, but both "
                               "hold the gradient of worker {}",
                               Describe(m_plan, id),
                               chunk,
                               (src & dst).find_first()));
        }
    }

    /// The sources whose gradient is not at a worker.
    std::vector<uint32_t> GetMissing(uint32_t worker, uint32_t source)
    {
        const auto& set = At(worker, 0);
        if (source != Collective::ALL)
        {
            return set.test(source) ? std::vector<uint32_t>{} : std::vector{source};
        }
        if (set.all())
        {
            return {};
        }
        std::vector<uint32_t> missing;
        const auto absent = ~set;
        for (auto i = absent.find_first(); i != Contributions::npos; i = absent.find_next(i))
        {
            missing.push_back(static_cast<uint32_t>(i));
        }
        return missing;
    }

    void CheckResult(uint32_t chunk)
    {
        const auto source = m_plan.GetCollective().GetSource(chunk);
        const auto target = m_plan.GetCollective().GetTarget(chunk);
        for (uint32_t worker = 0; worker < m_plan.GetWorkerCount() && !IsFull(); ++worker)
        {
            auto missing = GetMissing(worker, source);
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
    ChunkTransfers m_transfers;
    ChunkRaceFinder m_raceFinder;
    std::vector<Contributions> m_sets; //!< [rank * buffers + buffer]
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
