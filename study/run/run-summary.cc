// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/run-summary.h"

#include "ns3/bandwidth-bound.h"
#include "ns3/codec-profiles.h"
#include "ns3/collective-bandwidth.h"
#include "ns3/group-finder.h"
#include "ns3/plan-statistics.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace ns3::gradsync
{

namespace
{

void
SummariseTimes(RunResult& result)
{
    auto& summary = result.summary;
    // 10^6 iterations of 2^63 ps would overflow 64 bits.
    __extension__ using Wide = __int128;
    Wide sum = 0;
    for (const auto& record : result.iterations)
    {
        const int64_t ict = (record.end - record.start).GetPicoSeconds();
        sum += ict;
        summary.minIctPs = summary.iterations == 0 ? ict : std::min(summary.minIctPs, ict);
        summary.maxIctPs = std::max(summary.maxIctPs, ict);
        ++summary.iterations;
    }
    if (summary.iterations > 0)
    {
        summary.meanIctPs = static_cast<int64_t>(sum / summary.iterations);
    }
}

/// Compute times are no part of an exchange, so the bound is compared with what follows them.
void
SummariseBounds(RunResult& result)
{
    // The bound is one for whole gradients of all.
    if (result.summary.lostBytes > 0 ||
        std::any_of(result.jobs.begin(), result.jobs.end(), [](const auto& job) {
            return !job.plan || job.plan->IsCompressed() || job.plan->GetGate();
        }))
    {
        return;
    }
    std::vector<double> bounds;
    bounds.reserve(result.jobs.size());
    for (const auto& job : result.jobs)
    {
        bounds.push_back(ComputeCollectiveBound(*job.plan, job.endpointOf, *result.topology));
    }
    double bound = 0.0;
    double exchange = 0.0;
    for (const auto& record : result.iterations)
    {
        bound += bounds[record.job];
        exchange += (record.end - record.exchangeStart).GetSeconds();
    }
    if (bound > 0.0)
    {
        result.summary.meanBoundSeconds = bound / static_cast<double>(result.iterations.size());
        result.summary.timesBound = exchange / bound;
    }
}

/// Of the exchanges alone, as nccl-tests time no computation; where all iterations went by one
/// plan.
void
SummariseBandwidth(RunResult& result)
{
    if (result.jobs.size() != 1 || !result.jobs.front().plan || result.iterations.empty() ||
        result.summary.lostBytes > 0)
    {
        return;
    }
    const auto& plan = *result.jobs.front().plan;
    double seconds = 0.0;
    for (const auto& record : result.iterations)
    {
        if (record.plan != 0)
        {
            return;
        }
        seconds += (record.end - record.exchangeStart).GetSeconds();
    }
    const auto bytes = static_cast<double>(GetCollectiveBytes(plan));
    if (seconds <= 0.0 || bytes <= 0.0)
    {
        return;
    }
    auto& summary = result.summary;
    summary.algorithmBandwidth = bytes * static_cast<double>(result.iterations.size()) / seconds;
    if (const auto factor = GetBusFactor(plan))
    {
        summary.busBandwidth = summary.algorithmBandwidth * *factor;
    }
}

/// Of one iteration of a training job. Communications of a plan and a group are counted once.
uint64_t
CountTrainingCrossRackBytes(const TrainingResult& training, const RunResult& result)
{
    const auto& workload = *training.workload;
    const auto racks = FindRacks(*result.topology, result.jobs[training.job].endpointOf);
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> known; // (group, plan)
    uint64_t bytes = 0;
    for (CommunicationId id = 0; id < workload.GetCommunications().size(); ++id)
    {
        const auto& communication = workload.GetCommunications()[id];
        const auto [found, isNew] = known.try_emplace({communication.group, communication.plan}, 0);
        if (isNew)
        {
            GroupLevel own;
            own.groupCount = racks.groupCount;
            for (const auto rank : workload.GetGroup(id))
            {
                own.groupOf.push_back(racks.groupOf[training.GetRank(rank)]);
            }
            const auto statistics = ComputePlanStatistics(*workload.GetPlan(id), {{own}});
            found->second = statistics.crossings.front().bytes;
        }
        bytes += found->second;
    }
    return bytes;
}

/// What the plans move; bytes between racks of the plans by which iterations ended.
void
SummarisePlans(RunResult& result, std::span<const PlanFigures> plans)
{
    auto& summary = result.summary;
    for (const auto& plan : plans)
    {
        summary.peakReceivedBytes = std::max(summary.peakReceivedBytes, plan.peakReceivedBytes);
        summary.longestChain =
            std::max(summary.longestChain, static_cast<uint32_t>(plan.longestChain));
    }
    std::vector<size_t> first; // [job] of its plans
    size_t count = 0;
    for (const auto& job : result.jobs)
    {
        first.push_back(count);
        count += job.plans.size();
    }
    for (const auto& training : result.trainings)
    {
        summary.crossRackBytes +=
            training.iterations.size() * CountTrainingCrossRackBytes(training, result);
    }
    for (const auto& record : result.iterations)
    {
        const bool trains = result.jobs[record.job].plans.empty();
        summary.crossRackBytes +=
            trains ? 0 : plans[first[record.job] + record.plan].crossRackBytes;
    }
    for (const auto& asynchronous : result.asynchronous)
    {
        summary.crossRackBytes += CountCrossRackBytes(asynchronous, result);
    }
}

} // namespace

void
SummariseExchanges(RunResult& result, std::span<const PlanFigures> plans)
{
    SummariseTimes(result);
    SummariseBounds(result);
    SummariseBandwidth(result);
    SummarisePlans(result, plans);
    result.summary.training = SummariseTraining(result);
    result.summary.asynchronous = SummariseAsynchronous(result);
}

void
SummariseTransport(const TransportStatistics& statistics, RunSummary& summary)
{
    summary.goodputBytes = statistics.goodputBytes;
    summary.lostBytes = statistics.lostBytes;
    summary.wireBytes = statistics.wireBytes;
    summary.droppedPackets = statistics.droppedPackets;
    summary.ecnMarkedPackets = statistics.ecnMarkedPackets;
    summary.pfcPausePs = statistics.pfcPause.GetPicoSeconds();
    summary.retransmittedPackets = statistics.retransmittedPackets;
    summary.retransmittedBytes = statistics.retransmittedBytes;
    summary.packetHops = statistics.dataPacketHops;
}

void
SummariseCodecTimes(const ResolvedRun& run, RunSummary& summary)
{
    std::set<std::string> origins;
    for (const auto* profile : ListCodecProfiles(run))
    {
        origins.insert(profile->origin);
    }
    summary.codecTimes = fmt::format("{}", fmt::join(origins, "; "));
}

void
SummariseChoices(const std::vector<PlannedJob>& jobs,
                 const std::vector<PlannedTraining>& trainings,
                 RunSummary& summary)
{
    const auto add = [&summary](const std::string& choice, double seconds) {
        summary.autoChoice += (summary.autoChoice.empty() ? "" : "; ") + choice;
        summary.autoEstimateSeconds = std::max(summary.autoEstimateSeconds, seconds);
    };
    for (const auto& job : jobs)
    {
        if (const auto& choice = job.choice)
        {
            add(choice->Describe(), choice->GetSeconds());
        }
        if (job.nccl && job.nccl->choice)
        {
            const auto& taken = job.nccl->choice->taken;
            add(DescribeNccl(taken), taken.seconds);
        }
    }
    for (const auto& training : trainings)
    {
        if (const auto& choice = training.choice)
        {
            add(choice->text, choice->seconds);
        }
    }
}

} // namespace ns3::gradsync
