// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/distant-ends.h"

#include "ns3/exchange-application.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <span>
#include <unordered_set>
#include <utility>

namespace ns3::gradsync
{

DistantEnds::DistantEnds(const Plan& plan,
                         std::vector<uint32_t> partOf,
                         double reduceSecondsPerByte,
                         bool tellsSenders)
    : m_plan(plan),
      m_partOf(std::move(partOf)),
      m_reduceSecondsPerByte(reduceSecondsPerByte),
      m_tellsSenders(tellsSenders),
      m_doEdgesCross(DoEdgesCross())
{
    if (m_doEdgesCross)
    {
        FollowInstants();
    }
    if (!m_followers.empty())
    {
        FollowStarts();
    }
}

bool
DistantEnds::IsOneProcess() const
{
    return std::ranges::adjacent_find(m_partOf, std::not_equal_to<>()) == m_partOf.end();
}

/// Edges lead from an end at a rank to what another one begins.
bool
DistantEnds::DoEdgesCross() const
{
    if (IsOneProcess())
    {
        return false;
    }
    // Processes where operations begin and end: they are unpacked at once, where edges lead
    // anywhere. What one copy does all do.
    const auto count = m_plan.GetCopySize();
    std::vector<uint16_t> begins(count);
    std::vector<uint16_t> ends(count);
    m_plan.ForEachSrc(count, [&](size_t id, uint32_t rank) {
        begins[id] = static_cast<uint16_t>(m_partOf[rank]);
    });
    m_plan.ForEachDst(count, [&](size_t id, uint32_t rank) {
        ends[id] = static_cast<uint16_t>(m_partOf[rank]);
    });
    bool isOne = false;
    m_plan.ForEachEdge(count, [&](OperationId earlier, OperationId later) {
        isOne = isOne || begins[later] != ends[earlier];
    });
    return isOne;
}

bool
DistantEnds::TakesTime(OperationId id, const Operation& operation) const
{
    return operation.IsCompute() || operation.kind == OperationKind::Train ||
           (operation.kind == OperationKind::TransferReduce && m_reduceSecondsPerByte > 0 &&
            m_plan.GetBytes(id, operation) > 0);
}

bool
DistantEnds::IsInstant(OperationId id, const Operation& operation) const
{
    return !operation.IsTransfer() && operation.kind != OperationKind::Gate &&
           !TakesTime(id, operation);
}

/// Those that wait for what takes no time wait for what that waits for: until nothing new is
/// found, which of operations in the order of their plan is at once.
void
DistantEnds::FollowInstants()
{
    std::vector<OperationId> instants;
    m_plan.GetOperations().ForEach([&](size_t index, const Operation& operation) {
        const auto id = static_cast<OperationId>(index);
        if (IsInstant(id, operation))
        {
            instants.push_back(id);
        }
    });
    std::ranges::reverse(instants);
    bool isNew = true;
    while (isNew)
    {
        isNew = false;
        for (const auto id : instants)
        {
            auto parts = FindParts(id);
            if (parts.empty())
            {
                continue;
            }
            auto& followers = m_followers[id];
            isNew = isNew || parts.size() != followers.size();
            followers = std::move(parts);
        }
    }
}

/// Processes that wait for the end of an operation, that of its rank aside, as far as is known of
/// what takes no time.
std::vector<uint32_t>
DistantEnds::FindParts(OperationId id) const
{
    const auto own = m_partOf[m_plan.GetOperations()[id].dst];
    std::vector<uint32_t> parts;
    for (const auto successor : m_plan.GetSuccessors(id))
    {
        if (const auto part = m_partOf[m_plan.GetSrc(successor)]; part != own)
        {
            parts.push_back(part);
        }
        if (m_followers.empty())
        {
            continue;
        }
        if (const auto found = m_followers.find(successor); found != m_followers.end())
        {
            parts.insert(parts.end(), found->second.begin(), found->second.end());
        }
    }
    std::erase(parts, own);
    std::ranges::sort(parts);
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    return parts;
}

/// Whether another process is to be told of its end: FindWaiting without a list.
bool
DistantEnds::IsWaitedFor(OperationId id, const Operation& operation) const
{
    const auto own = m_partOf[operation.dst];
    for (const auto successor : m_plan.GetSuccessors(id))
    {
        if (m_partOf[m_plan.GetSrc(successor)] != own)
        {
            return !m_followers.contains(id);
        }
    }
    return !m_followers.empty() && !FindWaiting(id).empty();
}

bool
DistantEnds::IsFollowed(OperationId id, uint32_t part) const
{
    const auto found = m_followers.find(id);
    return found != m_followers.end() && std::ranges::binary_search(found->second, part);
}

std::vector<uint32_t>
DistantEnds::FindWaiting(OperationId id) const
{
    return m_followers.contains(id) ? std::vector<uint32_t>() : FindParts(id);
}

std::optional<uint32_t>
DistantEnds::FindSender(const Operation& operation) const
{
    const auto part = m_partOf[operation.src];
    return m_tellsSenders && part != m_partOf[operation.dst] ? std::optional(part) : std::nullopt;
}

DistantEnds::Demands
DistantEnds::FindDemands() const
{
    Demands demands;
    if (!m_doEdgesCross && (!m_tellsSenders || IsOneProcess()))
    {
        return demands;
    }
    demands.areAny = !m_followers.empty();
    m_plan.GetOperations().ForEach([&](size_t index, const Operation& operation) {
        const auto id = static_cast<OperationId>(index);
        const bool isWaitedFor = IsWaitedFor(id, operation);
        const bool hasSender = FindSender(operation).has_value();
        if (!isWaitedFor && !hasSender)
        {
            return;
        }
        demands.areAny = true;
        const auto takesTime = TakesTime(id, operation);
        if ((operation.IsTransfer() && !takesTime) || hasSender)
        {
            auto& hasOwn = demands.receivers[operation.dst];
            hasOwn = hasOwn || m_partOf[operation.src] == m_partOf[operation.dst];
        }
        if (isWaitedFor && (takesTime || operation.IsAggregate()))
        {
            AddWork(id, operation, demands);
        }
    });
    if (m_early)
    {
        demands.needsStarts = fmt::format("operation {} of rank {}, for which ranks of other "
                                          "processes wait, may be done before that rank begins",
                                          *m_early,
                                          m_plan.GetSrc(*m_early));
    }
    return demands;
}

/// An operation whose end is told when its rank begins to work for it; that of an aggregation would
/// have to be told by its switches.
void
DistantEnds::AddWork(OperationId id, const Operation& operation, Demands& demands) const
{
    const bool isTold = operation.kind != OperationKind::Train && !operation.IsAggregate();
    const auto work = !isTold ? Time(0)
                      : operation.IsCompute()
                          ? PicoSeconds(m_plan.GetComputePicoseconds(id))
                          : ExchangeApplication::GetReduceTime(m_plan.GetBytes(id, operation),
                                                               m_reduceSecondsPerByte);
    demands.leastWork = std::min(work, demands.leastWork.value_or(work));
    if (work.IsZero())
    {
        demands.obstacle = fmt::format("ranks of other processes wait for the end of operation {}, "
                                       "{}which nothing tells ahead",
                                       id,
                                       operation.IsAggregate() ? "an aggregation, " : "");
    }
}

/// What takes no time, is followed elsewhere, and need not wait until its rank has begun: nothing
/// before it is the rank's own.
void
DistantEnds::FollowStarts()
{
    const auto operations = m_plan.GetOperations();
    std::unordered_set<OperationId> late;
    for (OperationId id = 0; id < operations.size(); ++id)
    {
        const auto rank = operations[id].src;
        for (const auto successor : m_plan.GetSuccessors(id))
        {
            if (operations[successor].src == rank && m_followers.contains(successor))
            {
                late.insert(successor);
            }
        }
    }
    for (const auto& [id, parts] : m_followers)
    {
        if (!late.contains(id))
        {
            m_startFollowers[m_plan.GetSrc(id)].insert(parts.begin(), parts.end());
            m_early = std::min(id, m_early.value_or(id));
        }
    }
}

bool
DistantEnds::IsStartFollowed(uint32_t rank, uint32_t part) const
{
    const auto found = m_startFollowers.find(rank);
    return found != m_startFollowers.end() && found->second.contains(part);
}

} // namespace ns3::gradsync
