// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/collective-bandwidth.h"

#include "ns3/iteration-breakdown.h"
#include "ns3/time-spans.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Of one communication.
CollectiveTimes
MeasureCommunication(const Workload& workload,
                     const TaskLog& log,
                     const std::vector<TimeSpans>& computing,
                     CommunicationId id)
{
    const auto parts = workload.GetParts(id);
    const auto sender = workload.GetSender(id);
    auto first = log.GetBegin(sender.value_or(parts.front()));
    auto last = first;
    auto end = first;
    CollectiveTimes times;
    for (const auto part : parts)
    {
        const auto begin = GetWorkBegin(workload, log, part);
        first = std::min(first, begin);
        last = sender ? last : std::max(last, begin);
        end = std::max(end, log.GetEnd(part));
        times.exposed += log.GetEnd(part) - begin -
                         computing[workload.GetTasks()[part].rank].GetOverlap(
                             {begin.GetTimeStep(), log.GetEnd(part).GetTimeStep()});
    }
    times.count = 1;
    times.parts = parts.size();
    times.sum = end - last;
    times.least = times.sum;
    times.most = times.sum;
    times.sinceFirst = end - first;
    return times;
}

void
Include(CollectiveTimes& all, const CollectiveTimes& some)
{
    all.least = all.count == 0 ? some.least : std::min(all.least, some.least);
    all.most = std::max(all.most, some.most);
    all.count += some.count;
    all.sum += some.sum;
    all.sinceFirst += some.sinceFirst;
    all.parts += some.parts;
    all.exposed += some.exposed;
}

CollectiveShape
DescribeShape(const Workload& workload, CommunicationId id)
{
    const auto& plan = *workload.GetPlan(id);
    const auto& first = workload.GetTasks()[workload.GetParts(id).front()];
    return {workload.GetStreams()[first.stream].name,
            workload.GetLabel(first.label),
            plan.GetCollective().GetName(),
            static_cast<uint32_t>(workload.GetGroup(id).size()),
            GetCollectiveBytes(plan),
            GetBusFactor(plan)};
}

} // namespace

std::optional<double>
CollectiveTimes::GetAlgorithmBandwidth(uint64_t bytes) const
{
    return sum.IsStrictlyPositive() ? std::optional(static_cast<double>(bytes) *
                                                    static_cast<double>(count) / sum.GetSeconds())
                                    : std::nullopt;
}

std::optional<double>
GetBusFactor(const std::string& kind, uint32_t groupSize)
{
    const double share = static_cast<double>(groupSize - 1) / groupSize;
    if (kind == "all-reduce")
    {
        return 2.0 * share;
    }
    if (kind == "all-gather" || kind == "reduce-scatter" || kind == "all-to-all")
    {
        return share;
    }
    if (kind == "broadcast" || kind == "reduce" || kind == "message" || kind == "shift")
    {
        return 1.0;
    }
    return std::nullopt;
}

std::optional<double>
GetBusFactor(const Plan& plan)
{
    const auto& kind = plan.GetCollective().GetName();
    return kind == "all-reduce" && plan.HasAggregations()
               ? 1.0
               : GetBusFactor(kind, plan.GetWorkerCount());
}

uint64_t
GetCollectiveBytes(const Plan& plan)
{
    const auto bytes = plan.GetLayout().GetTotalBytes();
    // Its layout has the buffers of all workers one after the other.
    const auto& name = plan.GetCollective().GetName();
    const bool isOfEach = name == "all-to-all" || name == "shift";
    return isOfEach ? bytes / plan.GetWorkerCount() : bytes;
}

void
CollectiveLedger::Add(const Workload& workload, const TaskLog& log)
{
    std::vector<TimeSpans> computing;
    computing.reserve(workload.GetRankCount());
    for (uint32_t rank = 0; rank < workload.GetRankCount(); ++rank)
    {
        computing.push_back(FindComputing(workload, log, rank));
    }
    // By numbers, which are compared faster than texts: stream, label, group size, plan.
    using Key = std::tuple<uint32_t, uint32_t, size_t, uint32_t>;
    std::map<Key, std::pair<CommunicationId, CollectiveTimes>> found;
    for (CommunicationId id = 0; id < workload.GetCommunications().size(); ++id)
    {
        const auto& communication = workload.GetCommunications()[id];
        const auto stream = workload.GetTasks()[workload.GetParts(id).front()].stream;
        const Key key{stream,
                      communication.label,
                      workload.GetGroup(id).size(),
                      communication.plan};
        const auto at = found.try_emplace(key, id, CollectiveTimes{}).first;
        Include(at->second.second, MeasureCommunication(workload, log, computing, id));
    }
    for (const auto& [key, times] : found)
    {
        Include(m_times[DescribeShape(workload, times.first)], times.second);
    }
}

} // namespace ns3::gradsync
