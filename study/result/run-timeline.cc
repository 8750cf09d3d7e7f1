// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/run-timeline.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace ns3::gradsync
{

namespace
{

struct Span
{
    Time start;
    Time end;

    bool operator<(const Span& other) const
    {
        return std::tie(start, end) < std::tie(other.start, other.end);
    }
};

using JobRank = std::pair<uint32_t, uint32_t>;

/// What each rank had in the network, in order of time.
std::map<JobRank, std::vector<Span>>
SortSends(const RunResult& result)
{
    std::map<JobRank, std::vector<Span>> sends;
    for (const auto& record : result.transfers)
    {
        const auto& executed = result.jobs[record.job].plans[record.plan];
        const auto rank = executed.ranks[executed.plan->GetOperations()[record.operation].src];
        sends[{record.job, rank}].push_back({record.start, record.end});
    }
    for (auto& [rank, spans] : sends)
    {
        std::sort(spans.begin(), spans.end());
    }
    return sends;
}

/// Appends the gaps between sends in a part of an iteration.
void
AddGaps(const std::vector<Span>& sends, BlockedSpan gap, std::vector<BlockedSpan>& gaps)
{
    const auto end = gap.end;
    auto send = std::lower_bound(sends.begin(), sends.end(), Span{gap.start, Time()});
    for (; send != sends.end() && send->start < end; ++send)
    {
        if (send->start > gap.start)
        {
            gap.end = send->start;
            gaps.push_back(gap);
        }
        gap.start = std::max(gap.start, send->end);
    }
    if (gap.start < end)
    {
        gap.end = end;
        gaps.push_back(gap);
    }
}

/// (job, iteration) -> its record.
std::map<std::pair<uint32_t, uint32_t>, const IterationRecord*>
IndexIterations(const RunResult& result)
{
    std::map<std::pair<uint32_t, uint32_t>, const IterationRecord*> index;
    for (const auto& record : result.iterations)
    {
        index[{record.job, record.iteration}] = &record;
    }
    return index;
}

/// Time up to which all that began is known to have ended.
Time
GetHorizon(const RunResult& result)
{
    if (result.summary.finished)
    {
        return TimeStep(std::numeric_limits<int64_t>::max());
    }
    std::vector<Time> ends(result.jobs.size());
    for (const auto& record : result.iterations)
    {
        ends[record.job] = record.end;
    }
    return *std::min_element(ends.begin(), ends.end());
}

bool
IsOfHost(const RunResult& result, const TransferRecord& record, uint32_t endpoint)
{
    const auto& job = result.jobs[record.job];
    const auto& executed = job.plans[record.plan];
    const auto& operation = executed.plan->GetOperations()[record.operation];
    return job.endpointOf[executed.ranks[operation.src]] == endpoint ||
           job.endpointOf[executed.ranks[operation.dst]] == endpoint;
}

/// The end of the iterations with a rank on that endpoint that are under way.
std::optional<Time>
FindEndOfIterations(const RunResult& result, const FaultRecord& crash)
{
    std::optional<Time> end;
    for (const auto& record : result.iterations)
    {
        const auto& endpoints = result.jobs[record.job].endpointOf;
        if (record.start <= crash.time && crash.time < record.end &&
            std::count(endpoints.begin(), endpoints.end(), crash.target) > 0)
        {
            end = std::max(end.value_or(record.end), record.end);
        }
    }
    return end;
}

} // namespace

std::vector<BlockedSpan>
FindBlockedSpans(const RunResult& result)
{
    std::vector<BlockedSpan> gaps;
    const auto sends = SortSends(result);
    const auto iterations = IndexIterations(result);
    static const std::vector<Span> NONE;
    for (const auto& computed : result.computations)
    {
        const auto& job = result.jobs[computed.job];
        const auto found = iterations.find({computed.job, computed.iteration});
        const auto* iteration = found == iterations.end() ? nullptr : found->second;
        const auto& ranks = job.plans[iteration ? iteration->plan : 0].ranks;
        if (computed.rank >= job.plan->GetWorkerCount() ||
            !std::binary_search(ranks.begin(), ranks.end(), computed.rank))
        {
            continue;
        }
        const auto end = iteration ? iteration->end : result.duration;
        const auto own = sends.find({computed.job, computed.rank});
        AddGaps(own == sends.end() ? NONE : own->second,
                {computed.job, computed.iteration, computed.rank, computed.end, end},
                gaps);
    }
    std::sort(gaps.begin(), gaps.end(), [](const auto& first, const auto& second) {
        return std::tie(first.job, first.rank, first.start) <
               std::tie(second.job, second.rank, second.start);
    });
    return gaps;
}

std::vector<BlockedCount>
CountBlocked(const RunResult& result)
{
    std::map<std::pair<Time, uint32_t>, int64_t> changes;
    for (const auto& gap : FindBlockedSpans(result))
    {
        ++changes[{gap.start, gap.job}];
        --changes[{gap.end, gap.job}];
    }
    std::vector<int64_t> blocked(result.jobs.size(), 0);
    std::vector<BlockedCount> counts;
    for (const auto& [key, change] : changes)
    {
        const auto& [time, job] = key;
        blocked[job] += change;
        if (change != 0)
        {
            counts.push_back({time, job, static_cast<uint32_t>(blocked[job])});
        }
    }
    return counts;
}

std::vector<std::optional<Time>>
FindRecoveryTimes(const RunResult& result)
{
    std::vector<std::optional<Time>> recoveries(result.faults.size());
    const auto horizon = GetHorizon(result);
    for (const auto& record : result.transfers)
    {
        // Faults are in order of time.
        auto fault = std::lower_bound(
            result.faults.begin(),
            result.faults.end(),
            record.start,
            [](const FaultRecord& first, const Time& time) { return first.time < time; });
        for (; fault != result.faults.end() && fault->time < record.end; ++fault)
        {
            const bool isOfHosts = GetTarget(fault->kind) == FaultTarget::Endpoint;
            if (fault->begins && fault->kind != FaultKind::Straggler &&
                (!isOfHosts || IsOfHost(result, record, fault->target)))
            {
                auto& recovery = recoveries[fault - result.faults.begin()];
                recovery = std::max(recovery.value_or(Time()), record.end - fault->time);
            }
        }
    }
    for (size_t i = 0; i < recoveries.size(); ++i)
    {
        const auto& fault = result.faults[i];
        if (fault.begins && fault.kind == FaultKind::HostCrash)
        {
            const auto end = FindEndOfIterations(result, fault);
            recoveries[i] = end ? std::make_optional(*end - fault.time) : std::nullopt;
        }
        if (fault.time >= horizon)
        {
            recoveries[i].reset();
        }
    }
    return recoveries;
}

} // namespace ns3::gradsync
