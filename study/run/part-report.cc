// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/part-report.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>

namespace ns3::gradsync
{

namespace
{

/// A record of any kind, with the order of its event. `what` is the operation or the rank.
struct PackedRecord
{
    int64_t start;
    int64_t end;
    uint32_t job;
    uint32_t iteration;
    uint32_t what;
    uint32_t plan;
    uint32_t order;
    uint32_t reserved;
};

/// What processes may know differently of an iteration.
struct PackedIteration
{
    int64_t exchangeStart;
    int64_t training;
};

using PackedLink = std::array<uint64_t, 9>;
using PackedStatistics = std::array<uint64_t, 11>;

/// Of an operation of a plan, where others are of a rank.
template <typename RECORD>
concept OfOperation = requires(const RECORD& record)
{
    record.operation;
    record.plan;
};

template <typename RECORD>
PackedRecord
PackRecord(const RECORD& record, uint32_t order)
{
    PackedRecord packed{.start = record.start.GetTimeStep(),
                        .end = record.end.GetTimeStep(),
                        .job = record.job,
                        .iteration = record.iteration,
                        .what = 0,
                        .plan = 0,
                        .order = order,
                        .reserved = 0};
    if constexpr (OfOperation<RECORD>)
    {
        packed.what = record.operation;
        packed.plan = record.plan;
    }
    else
    {
        packed.what = record.rank;
    }
    return packed;
}

template <typename RECORD>
RECORD
UnpackRecord(const PackedRecord& packed)
{
    const Time start = TimeStep(packed.start);
    const Time end = TimeStep(packed.end);
    if constexpr (OfOperation<RECORD>)
    {
        return {packed.job, packed.iteration, packed.what, packed.plan, start, end};
    }
    else
    {
        return {packed.job, packed.iteration, packed.what, start, end};
    }
}

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
Add(const PackedLink& packed, LinkStatistics& link)
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
            static_cast<uint64_t>(statistics.pfcPause.GetTimeStep())};
}

void
Add(const PackedStatistics& packed, TransportStatistics& statistics)
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
}

template <typename RECORD>
void
AppendRecords(ByteBatch& batch,
              const std::vector<RECORD>& records,
              const std::vector<uint32_t>& orders)
{
    std::vector<PackedRecord> packed;
    packed.reserve(records.size());
    for (size_t i = 0; i < records.size(); ++i)
    {
        packed.push_back(PackRecord(records[i], orders[i]));
    }
    AppendList(batch, std::span<const PackedRecord>(packed));
}

/// Takes the records of one process behind those of the ones before.
void
TakeRecords(BatchReader& batch, std::vector<PackedRecord>& records)
{
    const auto own = batch.TakeList<PackedRecord>();
    records.insert(records.end(), own.begin(), own.end());
}

/// In the order in which their events come, which is known but for those of one event; those are of
/// one process and in order.
template <typename RECORD>
void
PutInOrder(std::vector<PackedRecord>& packed, std::vector<RECORD>& records)
{
    std::stable_sort(packed.begin(), packed.end(), [](const auto& one, const auto& other) {
        return std::tie(one.end, one.order) < std::tie(other.end, other.order);
    });
    records.clear();
    records.reserve(packed.size());
    for (const auto& one : packed)
    {
        records.push_back(UnpackRecord<RECORD>(one));
    }
}

void
MergeIterations(BatchReader& batch, std::vector<IterationRecord>& iterations)
{
    const auto own = batch.TakeList<PackedIteration>();
    for (size_t i = 0; i < iterations.size() && i < own.size(); ++i)
    {
        auto& record = iterations[i];
        const auto start = TimeStep(own[i].exchangeStart);
        // Of a process without a worker it is before the iteration: there is none.
        if (start >= record.start &&
            (record.exchangeStart < record.start || start < record.exchangeStart))
        {
            record.exchangeStart = start;
        }
        record.training = std::max<Time>(record.training, TimeStep(own[i].training));
    }
}

/// For how long any transfer was on its way, of each iteration: all of these are over when it ends.
/// \param underWay of all processes, in any order
void
TimeNetwork(std::vector<WindowProtocol::UnderWay>& underWay,
            std::vector<IterationRecord>& iterations)
{
    std::ranges::sort(underWay, {}, &WindowProtocol::UnderWay::at);
    int64_t count = 0;
    auto record = iterations.begin();
    for (size_t i = 0; i + 1 < underWay.size(); ++i)
    {
        count += underWay[i].change;
        const Time since = TimeStep(underWay[i].at);
        const Time until = TimeStep(underWay[i + 1].at);
        if (count > 0)
        {
            record = std::find_if(record, iterations.end(), [until](const auto& one) {
                return until <= one.end;
            });
            record->network += until - since;
        }
    }
}

} // namespace

RecordOrders::RecordOrders(const Ptr<ExchangeEngine>& engine,
                           const WindowSimulatorImpl& simulator,
                           Recorder::Detail detail)
    : m_engine(engine),
      m_simulator(simulator),
      m_detail(detail)
{
    if (m_detail != Recorder::Detail::Iterations)
    {
        m_engine->TraceConnectWithoutContext("Transfer",
                                             MakeCallback(&RecordOrders::OnTransfer, this));
        m_engine->TraceConnectWithoutContext("Compute",
                                             MakeCallback(&RecordOrders::OnCompute, this));
    }
    if (m_detail == Recorder::Detail::Work)
    {
        m_engine->TraceConnectWithoutContext("Work", MakeCallback(&RecordOrders::OnWork, this));
    }
}

RecordOrders::~RecordOrders()
{
    if (m_detail != Recorder::Detail::Iterations)
    {
        m_engine->TraceDisconnectWithoutContext("Transfer",
                                                MakeCallback(&RecordOrders::OnTransfer, this));
        m_engine->TraceDisconnectWithoutContext("Compute",
                                                MakeCallback(&RecordOrders::OnCompute, this));
    }
    if (m_detail == Recorder::Detail::Work)
    {
        m_engine->TraceDisconnectWithoutContext("Work", MakeCallback(&RecordOrders::OnWork, this));
    }
}

void
RecordOrders::OnTransfer(const TransferRecord& /* record */)
{
    transfers.push_back(m_simulator.GetOrder());
}

void
RecordOrders::OnCompute(const ComputeRecord& /* record */)
{
    computations.push_back(m_simulator.GetOrder());
}

void
RecordOrders::OnWork(const WorkRecord& /* record */)
{
    work.push_back(m_simulator.GetOrder());
}

ByteBatch
PackReport(const PartReport& report)
{
    ByteBatch batch;
    std::vector<PackedIteration> iterations;
    for (const auto& record : report.result->iterations)
    {
        iterations.push_back({record.exchangeStart.GetTimeStep(), record.training.GetTimeStep()});
    }
    AppendList(batch, std::span<const PackedIteration>(iterations));
    AppendRecords(batch, report.result->transfers, report.orders->transfers);
    AppendRecords(batch, report.result->computations, report.orders->computations);
    AppendRecords(batch, report.result->work, report.orders->work);
    std::vector<PackedLink> links;
    for (const auto& link : report.links)
    {
        links.push_back(Pack(link));
    }
    AppendList(batch, std::span<const PackedLink>(links));
    AppendPlain(batch, Pack(report.statistics));
    AppendPlain(batch, report.events);
    AppendList(batch, std::span<const int64_t>(report.sharedInstants));
    AppendList(batch, std::span<const WindowProtocol::UnderWay>(report.underWay));
    AppendList(batch, std::span<const PlanFigures>(report.plans));
    AppendList(batch, std::span<const char>(report.failure));
    return batch;
}

MergedReport
MergeReports(std::span<const ByteBatch> batches, RunResult& result)
{
    MergedReport merged;
    std::vector<PackedRecord> transfers;
    std::vector<PackedRecord> computations;
    std::vector<PackedRecord> work;
    std::vector<int64_t> instants;
    std::vector<WindowProtocol::UnderWay> underWay;
    result.links.clear();
    for (const auto& bytes : batches)
    {
        BatchReader batch(bytes);
        MergeIterations(batch, result.iterations);
        TakeRecords(batch, transfers);
        TakeRecords(batch, computations);
        TakeRecords(batch, work);
        const auto links = batch.TakeList<PackedLink>();
        result.links.resize(links.size());
        for (size_t i = 0; i < links.size(); ++i)
        {
            Add(links[i], result.links[i]);
        }
        Add(batch.Take<PackedStatistics>(), merged.statistics);
        merged.events += batch.Take<uint64_t>();
        const auto own = batch.TakeList<int64_t>();
        std::vector<int64_t> all;
        std::ranges::set_union(instants, own, std::back_inserter(all));
        instants = std::move(all);
        const auto changes = batch.TakeList<WindowProtocol::UnderWay>();
        underWay.insert(underWay.end(), changes.begin(), changes.end());
        AddFigures(batch.TakeList<PlanFigures>(), merged.plans);
        const auto failure = batch.TakeList<char>();
        if (merged.failure.empty())
        {
            merged.failure.assign(failure.begin(), failure.end());
        }
    }
    merged.events += instants.size();
    if (merged.failure.empty())
    {
        TimeNetwork(underWay, result.iterations);
    }
    PutInOrder(transfers, result.transfers);
    PutInOrder(computations, result.computations);
    PutInOrder(work, result.work);
    return merged;
}

} // namespace ns3::gradsync
