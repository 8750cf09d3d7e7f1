// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/part-report.h"

#include "ns3/event-order.h"
#include "ns3/failure-text.h"
#include "ns3/part-aggregation.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

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

/// An iteration as a process knows it that takes part. Some of it others may know differently.
struct PackedIteration
{
    uint64_t order; //!< of the event that ended it
    uint32_t job;
    uint32_t iteration;
    int64_t start;
    int64_t exchangeStart;
    int64_t end;
    int64_t compress;
    int64_t decompress;
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

/// When a record was made, as one process alone would have it: in which event, and of that in which
/// all ranks send, for which operation.
auto
GetPlace(const PackedRecord& record)
{
    return std::tuple(record.end,
                      record.order,
                      record.order == Simulator::NO_CONTEXT ? record.what : 0);
}

/// Takes the records of one process behind those of the ones before.
/// \throws std::runtime_error where the ranks sent twice at one instant, which one process alone
/// would have had in another order
void
TakeRecords(BatchReader& batch, std::vector<PackedRecord>& records)
{
    const auto own = batch.TakeList<PackedRecord>();
    const auto wouldMove = [](const auto& last, const auto& record) {
        return record.end == last.end && record.order == last.order &&
               GetPlace(record) < GetPlace(last);
    };
    if (std::ranges::adjacent_find(own, wouldMove) != own.end())
    {
        throw std::runtime_error("what was sent and was done at one instant, twice over, cannot go "
                                 "with --ranks: nothing tells which came first");
    }
    records.insert(records.end(), own.begin(), own.end());
}

/// In the order in which their events come, which is known but for those of one event; those are of
/// one process and in order, or of that in which all ranks send.
template <typename RECORD>
void
PutInOrder(std::vector<PackedRecord>& packed, std::vector<RECORD>& records)
{
    std::stable_sort(packed.begin(), packed.end(), [](const auto& one, const auto& other) {
        return GetPlace(one) < GetPlace(other);
    });
    records.clear();
    records.reserve(packed.size());
    for (const auto& one : packed)
    {
        records.push_back(UnpackRecord<RECORD>(one));
    }
}

void
Append(ByteBatch& batch, const PartFailure& part)
{
    const auto& failure = part.failure;
    AppendPlain(batch, failure.job);
    AppendPlain(batch, failure.iteration);
    AppendPlain(batch, failure.plan);
    AppendPlain(batch, part.hasFailed);
    AppendList(batch, std::span<const char>(failure.cause));
    AppendList(batch, std::span<const char>(failure.reason));
    AppendList(batch, std::span<const OperationId>(failure.unfinished));
    AppendList(batch, std::span<const OperationId>(failure.inNetwork));
    AppendList(batch, std::span<const OperationId>(failure.arrived));
}

PartFailure
TakeFailure(BatchReader& batch)
{
    PartFailure part{};
    auto& failure = part.failure;
    failure.job = batch.Take<uint32_t>();
    failure.iteration = batch.Take<uint32_t>();
    failure.plan = batch.Take<uint32_t>();
    part.hasFailed = batch.Take<bool>();
    const auto cause = batch.TakeList<char>();
    failure.cause.assign(cause.begin(), cause.end());
    const auto reason = batch.TakeList<char>();
    failure.reason.assign(reason.begin(), reason.end());
    failure.unfinished = batch.TakeList<OperationId>();
    failure.inNetwork = batch.TakeList<OperationId>();
    failure.arrived = batch.TakeList<OperationId>();
    return part;
}

/// Jobs of all processes that are not finished.
class MergedFailures
{
  public:
    void Take(BatchReader& batch)
    {
        for (auto left = batch.Take<uint64_t>(); left > 0; --left)
        {
            auto part = TakeFailure(batch);
            const auto [place, isNew] = m_byJob.emplace(part.failure.job, part);
            if (!isNew)
            {
                auto& whole = place->second.failure;
                Unite(whole.unfinished, part.failure.unfinished);
                Unite(whole.inNetwork, part.failure.inNetwork);
                Unite(whole.arrived, part.failure.arrived);
            }
        }
    }

    /// As ExchangeEngine::GetFailure of one process. \param result of what was planned
    std::optional<ExchangeFailure> GetFirst(const RunResult& result) const
    {
        const auto first =
            std::ranges::find_if(m_byJob, [](const auto& one) { return one.second.hasFailed; });
        const auto found = first == m_byJob.end() ? m_byJob.begin() : first;
        if (found == m_byJob.end())
        {
            return std::nullopt;
        }
        auto failure = found->second.failure;
        // What was sent, and has not arrived.
        std::vector<OperationId> left;
        std::ranges::set_intersection(failure.inNetwork,
                                      failure.unfinished,
                                      std::back_inserter(left));
        failure.inNetwork.clear();
        std::ranges::set_difference(left, failure.arrived, std::back_inserter(failure.inNetwork));
        const auto& job = result.jobs[failure.job];
        if (!job.plans.empty())
        {
            failure.reason = FormatFailure(*job.plans[failure.plan].plan,
                                           {job.name,
                                            failure.iteration,
                                            failure.cause,
                                            failure.unfinished,
                                            failure.inNetwork});
        }
        return failure;
    }

  private:
    static void Unite(std::vector<OperationId>& ids, const std::vector<OperationId>& more)
    {
        std::vector<OperationId> all;
        std::ranges::set_union(ids, more, std::back_inserter(all));
        ids = std::move(all);
    }

    std::map<uint32_t, PartFailure> m_byJob;
};

PackedIteration
Pack(const IterationRecord& record, uint64_t order)
{
    return {.order = order,
            .job = record.job,
            .iteration = record.iteration,
            .start = record.start.GetTimeStep(),
            .exchangeStart = record.exchangeStart.GetTimeStep(),
            .end = record.end.GetTimeStep(),
            .compress = record.compress.GetTimeStep(),
            .decompress = record.decompress.GetTimeStep(),
            .training = record.training.GetTimeStep()};
}

/// Iterations of all processes, in the order of their ends.
class MergedIterations
{
  public:
    void Add(std::span<const PackedIteration> iterations)
    {
        for (const auto& own : iterations)
        {
            const auto [place, isNew] = m_byJob.emplace(std::pair(own.job, own.iteration), own);
            if (!isNew)
            {
                Complete(place->second, own);
            }
        }
    }

    void Take(std::vector<IterationRecord>& records) const
    {
        std::vector<PackedIteration> packed;
        for (const auto& [key, iteration] : m_byJob)
        {
            packed.push_back(iteration);
        }
        std::ranges::sort(packed, [](const auto& one, const auto& other) {
            return std::tie(one.end, one.order) < std::tie(other.end, other.order);
        });
        records.clear();
        for (const auto& own : packed)
        {
            IterationRecord record{};
            record.job = own.job;
            record.iteration = own.iteration;
            record.start = TimeStep(own.start);
            record.exchangeStart = TimeStep(own.exchangeStart);
            record.end = TimeStep(own.end);
            record.compress = TimeStep(own.compress);
            record.decompress = TimeStep(own.decompress);
            record.training = TimeStep(own.training);
            records.push_back(record);
        }
    }

  private:
    static void Complete(PackedIteration& record, const PackedIteration& own)
    {
        // Of a process without a worker it is before the iteration: there is none.
        if (own.exchangeStart >= record.start &&
            (record.exchangeStart < record.start || own.exchangeStart < record.exchangeStart))
        {
            record.exchangeStart = own.exchangeStart;
        }
        record.training = std::max(record.training, own.training);
    }

    std::map<std::pair<uint32_t, uint32_t>, PackedIteration> m_byJob;
};

/// For how long any transfer was on its way, of each iteration of a job: all of these are over when
/// it ends; none is, of one that does not end. \param underWay of all processes, in any order
void
TimeNetwork(uint32_t job,
            std::vector<WindowProtocol::UnderWay>& underWay,
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
            record = std::find_if(record, iterations.end(), [job, until](const auto& one) {
                return one.job == job && until <= one.end;
            });
            if (record == iterations.end())
            {
                return;
            }
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
    transfers.push_back(EventOrder::Get(m_simulator.GetOrder()));
}

void
RecordOrders::OnCompute(const ComputeRecord& /* record */)
{
    computations.push_back(EventOrder::Get(m_simulator.GetOrder()));
}

void
RecordOrders::OnWork(const WorkRecord& /* record */)
{
    work.push_back(EventOrder::Get(m_simulator.GetOrder()));
}

ByteBatch
PackReport(const PartReport& report)
{
    ByteBatch batch;
    std::vector<PackedIteration> iterations;
    for (size_t i = 0; i < report.result->iterations.size(); ++i)
    {
        iterations.push_back(Pack(report.result->iterations[i], report.endOrders[i]));
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
    AppendStatistics(batch, report.aggregation);
    AppendPlain(batch, report.events);
    AppendList(batch, std::span<const WindowProtocol::SharedEvent>(report.sharedEvents));
    for (size_t job = 0; job < report.result->jobs.size(); ++job)
    {
        AppendList(batch, std::span<const WindowProtocol::UnderWay>(report.underWay[job]));
    }
    AppendList(batch, std::span<const PlanFigures>(report.plans));
    AppendSurroundings(batch, report.surroundings);
    AppendPlain(batch, uint64_t{report.failures.size()});
    for (const auto& failure : report.failures)
    {
        Append(batch, failure);
    }
    AppendPlain(batch, report.end);
    AppendPlain(batch, report.isStopped);
    AppendList(batch, std::span<const char>(report.problem));
    return batch;
}

MergedReport
MergeReports(std::span<const ByteBatch> batches, RunResult& result)
{
    MergedReport merged;
    std::vector<PackedRecord> transfers;
    std::vector<PackedRecord> computations;
    std::vector<PackedRecord> work;
    std::vector<WindowProtocol::SharedEvent> shared;
    std::vector<std::vector<WindowProtocol::UnderWay>> underWay(result.jobs.size());
    MergedIterations iterations;
    MergedFailures failures;
    PartSurroundings surroundings;
    result.links.clear();
    for (const auto& bytes : batches)
    {
        BatchReader batch(bytes);
        iterations.Add(batch.TakeList<PackedIteration>());
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
        AddFigures(batch.TakeList<PlanFigures>(), merged.plans);
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
    iterations.Take(result.iterations);
    merged.events += shared.size();
    for (uint32_t job = 0; job < underWay.size(); ++job)
    {
        TimeNetwork(job, underWay[job], result.iterations);
    }
    merged.failure = failures.GetFirst(result);
    PutInOrder(transfers, result.transfers);
    PutInOrder(computations, result.computations);
    PutInOrder(work, result.work);
    PutInOrder(std::move(surroundings), result);
    return merged;
}

} // namespace ns3::gradsync
