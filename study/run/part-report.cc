// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/part-report.h"

#include "ns3/part-aggregation.h"
#include "ns3/part-iterations.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace ns3::gradsync
{

namespace
{

using PackedLink = std::array<uint64_t, 9>;
using PackedStatistics = std::array<uint64_t, 14>;

PackedLink
Pack(const LinkStatistics& link)
{
    return {link.packets,
            link.payloadBytes,
            link.wireBytes,
            link.droppedPackets,
            link.ecnMarkedPackets,
            link.maxQueueBytes,
            static_cast<uint64_t>(link.pfcPause.GetTimeStep()),
            link.pfcPauses,
            link.blockedBytes};
}

/// Each end of a link is of one process; in all others it has carried nothing.
void
AddPacked(const PackedLink& packed, LinkStatistics& link)
{
    link.packets += packed[0];
    link.payloadBytes += packed[1];
    link.wireBytes += packed[2];
    link.droppedPackets += packed[3];
    link.ecnMarkedPackets += packed[4];
    link.maxQueueBytes += packed[5];
    link.pfcPause += TimeStep(packed[6]);
    link.pfcPauses += packed[7];
    link.blockedBytes += packed[8];
}

PackedStatistics
Pack(const TransportStatistics& statistics)
{
    return {statistics.goodputBytes,
            statistics.lostBytes,
            statistics.wireBytes,
            statistics.dataPacketHops,
            statistics.controlPacketHops,
            statistics.droppedPackets,
            statistics.ecnMarkedPackets,
            statistics.retransmittedPackets,
            statistics.retransmittedBytes,
            statistics.timerLooks,
            static_cast<uint64_t>(statistics.pfcPause.GetTimeStep()),
            statistics.savedEvents,
            statistics.switchPackets,
            statistics.switchRounds};
}

void
AddPacked(const PackedStatistics& packed, TransportStatistics& statistics)
{
    statistics.goodputBytes += packed[0];
    statistics.lostBytes += packed[1];
    statistics.wireBytes += packed[2];
    statistics.dataPacketHops += packed[3];
    statistics.controlPacketHops += packed[4];
    statistics.droppedPackets += packed[5];
    statistics.ecnMarkedPackets += packed[6];
    statistics.retransmittedPackets += packed[7];
    statistics.retransmittedBytes += packed[8];
    statistics.timerLooks += packed[9];
    statistics.pfcPause += TimeStep(packed[10]);
    statistics.savedEvents += packed[11];
    statistics.switchPackets += packed[12];
    statistics.switchRounds += packed[13];
}

} // namespace

ByteBatch
PackReport(const PartReport& report)
{
    ByteBatch batch;
    AppendIterations(batch, report.result->iterations, report.endOrders);
    AppendRecords(batch, *report.result, *report.orders);
    std::vector<PackedLink> links;
    for (const auto& link : report.links)
    {
        links.push_back(Pack(link));
    }
    AppendList(batch, std::span<const PackedLink>(links));
    AppendPlain(batch, Pack(report.statistics));
    AppendStatistics(batch, report.aggregation);
    AppendPlain(batch, report.events);
    AppendList(batch, std::span<const WindowProtocol::SharedEvent>(report.sharedEvents));
    for (size_t job = 0; job < report.result->jobs.size(); ++job)
    {
        AppendList(batch, std::span<const WindowProtocol::UnderWay>(report.underWay[job]));
    }
    AppendSurroundings(batch, report.surroundings);
    AppendFailures(batch, report.failures);
    AppendPlain(batch, report.end);
    AppendPlain(batch, report.isStopped);
    AppendList(batch, std::span<const char>(report.problem));
    return batch;
}

MergedReport
MergeReports(std::span<const ByteBatch> batches, RunResult& result)
{
    MergedReport merged;
    MergedRecords records;
    std::vector<WindowProtocol::SharedEvent> shared;
    std::vector<std::vector<WindowProtocol::UnderWay>> underWay(result.jobs.size());
    MergedIterations iterations;
    MergedFailures failures;
    PartSurroundings surroundings;
    result.links.clear();
    for (const auto& bytes : batches)
    {
        BatchReader batch(bytes);
        iterations.Take(batch);
        records.Take(batch);
        const auto links = batch.TakeList<PackedLink>();
        result.links.resize(links.size());
        for (size_t i = 0; i < links.size(); ++i)
        {
            AddPacked(links[i], result.links[i]);
        }
        AddPacked(batch.Take<PackedStatistics>(), merged.statistics);
        AddStatistics(batch, merged.aggregation);
        merged.events += batch.Take<uint64_t>();
        const auto own = batch.TakeList<WindowProtocol::SharedEvent>();
        std::vector<WindowProtocol::SharedEvent> all;
        std::ranges::set_union(shared, own, std::back_inserter(all)); // of equal ones the most
        shared = std::move(all);
        for (auto& ofJob : underWay)
        {
            const auto changes = batch.TakeList<WindowProtocol::UnderWay>();
            ofJob.insert(ofJob.end(), changes.begin(), changes.end());
        }
        TakeSurroundings(batch, surroundings);
        failures.Take(batch);
        merged.end = std::max<Time>(merged.end, TimeStep(batch.Take<int64_t>()));
        merged.isStopped = batch.Take<bool>() || merged.isStopped;
        const auto problem = batch.TakeList<char>();
        if (merged.problem.empty())
        {
            merged.problem.assign(problem.begin(), problem.end());
        }
    }
    merged.endOrders = iterations.PutInOrder(result.iterations);
    merged.events += shared.size();
    for (uint32_t job = 0; job < underWay.size(); ++job)
    {
        TimeNetwork(job, underWay[job], result.iterations);
    }
    merged.failure = failures.GetFirst(result);
    records.PutInOrder(result);
    PutInOrder(std::move(surroundings), result);
    return merged;
}

} // namespace ns3::gradsync
