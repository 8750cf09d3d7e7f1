// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/result-rows.h"

#include "ns3/csv-text.h"
#include "ns3/result-columns.h"
#include "ns3/row-writer.h"
#include "ns3/run-timeline.h"
#include "ns3/units.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

std::vector<std::string>
WriteNodeNames(const Topology& topology)
{
    std::vector<std::string> names;
    for (const auto& node : topology.GetNodes())
    {
        names.push_back(WriteCsvText(node.name));
    }
    return names;
}

std::vector<std::string>
WriteJobNames(const RunResult& result)
{
    std::vector<std::string> names;
    for (const auto& job : result.jobs)
    {
        names.push_back(WriteCsvText(job.name));
    }
    return names;
}

/// Share of the link's capacity that was used, over the whole run. What it sends after the run's
/// end (acknowledgements, packets again, the rest of one that had begun) counts as bytes: no more
/// than 1.
double
GetUtilisation(const LinkStatistics& statistics, const TopologyLink& link, const Time& duration)
{
    const double capacityBits = static_cast<double>(link.rate.GetBitRate()) * duration.GetSeconds();
    const double usedBits = static_cast<double>(statistics.wireBytes) * 8.0;
    return capacityBits > 0.0 ? std::min(1.0, usedBits / capacityBits) : 0.0;
}

} // namespace

void
WriteIterations(const RunResult& result, std::ostream& stream)
{
    RowWriter<ITERATION_COLUMNS> rows(stream);
    for (const auto& record : result.iterations)
    {
        const auto* plan = result.jobs[record.job].plan.get();
        const bool isGated = plan && plan->GetGate().has_value();
        const Time exchange = record.end - record.exchangeStart;
        const auto ifGated = [isGated](uint32_t count) {
            return isGated ? std::optional(count) : std::nullopt;
        };
        const Time network = (plan && plan->IsCompressed()) || isGated ? record.network : exchange;
        rows.Add(
            result.jobs[record.job].name,
            record.iteration,
            TimeCell{record.start},
            TimeCell{record.end - record.start},
            TimeCell{record.exchangeStart - record.start + record.training},
            TimeCell{record.compress},
            TimeCell{network},
            TimeCell{record.decompress},
            TimeCell{record.training + record.compress + network + record.decompress - exchange},
            ifGated(record.replies),
            ifGated(record.late));
    }
}

void
WriteLinks(const RunResult& result, std::ostream& stream)
{
    RowWriter<LINK_COLUMNS> rows(stream);
    const auto names = WriteNodeNames(*result.topology);
    const auto links = result.topology->GetLinks();
    for (size_t i = 0; i < result.links.size(); ++i)
    {
        const auto& link = links[i / 2];
        const auto& statistics = result.links[i];
        rows.Add(WrittenCell{names[i % 2 == 0 ? link.a : link.b]},
                 WrittenCell{names[i % 2 == 0 ? link.b : link.a]},
                 ToString(link.kind),
                 link.rate.GetBitRate(),
                 statistics.payloadBytes,
                 statistics.wireBytes,
                 statistics.packets,
                 ShareCell{GetUtilisation(statistics, link, result.duration)},
                 statistics.droppedPackets,
                 statistics.ecnMarkedPackets,
                 TimeCell{statistics.pfcPause},
                 statistics.maxQueueBytes,
                 statistics.pfcPauses,
                 statistics.blockedBytes);
    }
}

void
WriteSamples(const RunResult& result, std::ostream& stream)
{
    RowWriter<SAMPLE_COLUMNS> rows(stream);
    const auto names = WriteNodeNames(*result.topology);
    const auto links = result.topology->GetLinks();
    for (const auto& sample : result.samples)
    {
        const auto& link = links[sample.port / 2];
        const bool isForward = sample.port % 2 == 0;
        rows.Add(TimeCell{sample.time},
                 WrittenCell{names[isForward ? link.a : link.b]},
                 WrittenCell{names[isForward ? link.b : link.a]},
                 sample.wireBytes,
                 sample.queueBytes,
                 TimeCell{sample.paused});
    }
}

std::string
DescribeReaction(const RunResult& result, const ReactionRecord& reaction, const std::string& verb)
{
    const auto& job = result.jobs[reaction.job];
    switch (reaction.kind)
    {
    case ReactionKind::Fallback:
        return job.name + verb + " without switches that aggregate";
    case ReactionKind::Rebuild:
        return job.name + verb + " by other switches";
    case ReactionKind::Replan:
        break;
    }
    return fmt::format(
        "{}{} without {}",
        job.name,
        verb,
        NameTarget(*result.topology, FaultKind::HostCrash, job.endpointOf[reaction.rank]));
}

void
WriteFaults(const RunResult& result, std::ostream& stream)
{
    RowWriter<FAULT_COLUMNS> rows(stream);
    const auto recoveries = FindRecoveryTimes(result);
    auto reaction = result.reactions.begin();
    const auto writeReactions = [&](const Time& until) {
        for (; reaction != result.reactions.end() && reaction->time <= until; ++reaction)
        {
            rows.Add(TimeCell{reaction->time},
                     std::optional<uint32_t>(),
                     "reaction",
                     DescribeReaction(result, *reaction),
                     ToString(reaction->kind),
                     std::optional<TimeCell>());
        }
    };
    for (size_t i = 0; i < result.faults.size(); ++i)
    {
        const auto& record = result.faults[i];
        writeReactions(record.time - TimeStep(1));
        rows.Add(TimeCell{record.time},
                 std::optional(record.fault),
                 ToString(record.kind),
                 NameTarget(*result.topology, record.kind, record.target),
                 record.begins ? "begin" : "end",
                 recoveries[i] ? std::optional(TimeCell{*recoveries[i]}) : std::nullopt);
    }
    writeReactions(result.duration);
}

void
WriteBlocked(const RunResult& result, std::ostream& stream)
{
    RowWriter<BLOCKED_COLUMNS> rows(stream);
    for (const auto& count : CountBlocked(result))
    {
        rows.Add(TimeCell{count.time}, result.jobs[count.job].name, count.workers);
    }
}

void
WriteFlows(const RunResult& result, std::ostream& stream)
{
    RowWriter<FLOW_COLUMNS> rows(stream);
    const auto name = [&result](uint32_t endpoint) {
        const auto node = result.topology->GetEndpoints()[endpoint];
        return result.topology->GetNodes()[node].name;
    };
    for (const auto& flow : result.flows)
    {
        rows.Add(flow.traffic,
                 name(flow.src),
                 name(flow.dst),
                 flow.bytes,
                 TimeCell{flow.start},
                 TimeCell{flow.end},
                 flow.failed ? "failed" : "ok");
    }
}

void
WriteMessages(const RunResult& result, std::ostream& stream)
{
    RowWriter<MESSAGE_COLUMNS> rows(stream);
    const auto jobs = WriteJobNames(result);
    const auto names = WriteNodeNames(*result.topology);
    const auto endpoints = result.topology->GetEndpoints();
    for (const auto& record : result.transfers)
    {
        const auto& job = result.jobs[record.job];
        const auto& plan = job.plans[record.plan].plan;
        const auto& ranks = job.plans[record.plan].ranks;
        const auto& operation = plan->GetOperations()[record.operation];
        rows.Add(WrittenCell{jobs[record.job]},
                 record.iteration,
                 record.operation,
                 WrittenCell{names[endpoints[job.endpointOf[ranks[operation.src]]]]},
                 WrittenCell{names[endpoints[job.endpointOf[ranks[operation.dst]]]]},
                 plan->GetBytes(record.operation),
                 TimeCell{record.start},
                 TimeCell{record.end});
    }
}

void
WriteUnfinished(const RunResult& result, std::ostream& stream)
{
    // What a job that trains has not done are tasks, which the text of the failure names.
    if (!result.failure || !result.jobs[result.failure->job].plan)
    {
        return;
    }
    RowWriter<UNFINISHED_COLUMNS> rows(stream);
    const auto& failure = *result.failure;
    const auto& job = result.jobs[failure.job];
    const auto& executed = job.plans[failure.plan];
    const auto names = WriteNodeNames(*result.topology);
    const auto endpoints = result.topology->GetEndpoints();
    const auto name = [&](uint32_t rank) {
        return WrittenCell{names[endpoints[job.endpointOf[executed.ranks[rank]]]]};
    };
    for (const auto id : failure.unfinished)
    {
        const auto& operation = executed.plan->GetOperations()[id];
        if (operation.IsTransfer())
        {
            const bool isSent = std::ranges::binary_search(failure.inNetwork, id);
            rows.Add(job.name,
                     failure.iteration,
                     id,
                     ToString(operation.kind),
                     name(operation.src),
                     name(operation.dst),
                     executed.plan->GetBytes(id),
                     isSent ? "network" : "waiting");
        }
    }
}

} // namespace ns3::gradsync
