// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-statistics.h"

#include "ns3/round-counter.h"

#include <algorithm>
#include <set>

namespace ns3::gradsync
{

namespace
{

uint64_t
GetPeak(const std::vector<uint64_t>& bytes)
{
    return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
}

bool
IsCrossing(const GroupLevel& level, const Operation& operation)
{
    const auto listed = level.groupOf.size();
    return operation.src >= listed || operation.dst >= listed ||
           level.groupOf[operation.src] != level.groupOf[operation.dst];
}

/// Groups of a level among the ranks of an aggregation, of each of which one sum leaves, or with a
/// root all but its own; 0 when it stays within one.
uint64_t
CountLeaving(const GroupLevel& level, const std::vector<uint32_t>& ranks, bool hasRoot)
{
    std::set<uint32_t> groups;
    for (const auto rank : ranks)
    {
        const bool isListed = rank < level.groupOf.size();
        groups.insert(isListed ? level.groupOf[rank] : level.groupCount + rank);
    }
    return hasRoot || groups.size() == 1 ? groups.size() - 1 : groups.size();
}

/// How often the data of a transfer leave a group of a level.
uint64_t
CountCrossings(const Plan& plan,
               OperationId id,
               const Operation& operation,
               const GroupLevel& level)
{
    if (!operation.IsAggregate())
    {
        return IsCrossing(level, operation) ? 1 : 0;
    }
    const bool isFirst = plan.GetMembers(id).first == id; // which stands for all
    const auto group = operation.stream;
    const bool hasRoot = plan.GetAggregationFlow(group).flow != AggregationFlow::AllReduce;
    return isFirst ? CountLeaving(level, plan.GetAggregationGroups()[group], hasRoot) : 0;
}

/// Of the first copy, for all like it.
void
CountOperation(const Plan& plan,
               OperationId id,
               const Operation& operation,
               const WorkerGroups& groups,
               PlanStatistics& statistics)
{
    const auto copies = plan.GetCopyCount();
    if (!operation.IsTransfer())
    {
        (operation.IsMove() ? statistics.localCount : statistics.joinCount) += copies;
        return;
    }
    const auto bytes = plan.GetBytesOfCopies(id, operation);
    statistics.transferCount += copies;
    const bool isMessage = !operation.IsAggregate();
    if (isMessage || plan.GivesToAggregation(operation))
    {
        statistics.totalBytes += bytes;
        statistics.sentBytes[operation.src] += bytes;
    }
    if (isMessage || plan.GetsFromAggregation(operation))
    {
        statistics.receivedBytes[operation.dst] += bytes;
    }
    for (size_t level = 0; level < groups.levels.size(); ++level)
    {
        const auto crossings = CountCrossings(plan, id, operation, groups.levels[level]);
        statistics.crossings[level].bytes += bytes * crossings;
        statistics.crossings[level].transfers += crossings * copies;
    }
}

} // namespace

uint64_t
PlanStatistics::GetPeakSentBytes() const
{
    return GetPeak(sentBytes);
}

uint64_t
PlanStatistics::GetPeakReceivedBytes() const
{
    return GetPeak(receivedBytes);
}

PlanStatistics
ComputePlanStatistics(const Plan& plan, const WorkerGroups& groups)
{
    auto statistics = CountPlanTraffic(plan, groups);
    statistics.transfersPerRound = RoundCounter(plan).Count();
    return statistics;
}

PlanStatistics
CountPlanTraffic(const Plan& plan, const WorkerGroups& groups)
{
    PlanStatistics statistics;
    statistics.sentBytes.resize(plan.GetRankCount());
    statistics.receivedBytes.resize(plan.GetRankCount());
    for (const auto& level : groups.levels)
    {
        statistics.crossings.push_back({level.name});
    }
    plan.GetFirstCopy().ForEach([&](size_t id, const Operation& operation) {
        CountOperation(plan, static_cast<OperationId>(id), operation, groups, statistics);
    });
    return statistics;
}

} // namespace ns3::gradsync
