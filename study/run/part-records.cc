// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/part-records.h"

#include "ns3/event-order.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <tuple>

namespace ns3::gradsync
{

namespace
{

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

template <typename RECORD>
void
AppendPackedRecords(ByteBatch& batch,
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
void
TakePackedRecords(BatchReader& batch, std::vector<PackedRecord>& records)
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
Unpack(std::vector<PackedRecord>& packed, std::vector<RECORD>& records)
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

void
AppendRecords(ByteBatch& batch, const RunResult& result, const RecordOrders& orders)
{
    AppendPackedRecords(batch, result.transfers, orders.transfers);
    AppendPackedRecords(batch, result.computations, orders.computations);
    AppendPackedRecords(batch, result.work, orders.work);
}

void
MergedRecords::Take(BatchReader& batch)
{
    TakePackedRecords(batch, m_transfers);
    TakePackedRecords(batch, m_computations);
    TakePackedRecords(batch, m_work);
}

void
MergedRecords::PutInOrder(RunResult& result)
{
    Unpack(m_transfers, result.transfers);
    Unpack(m_computations, result.computations);
    Unpack(m_work, result.work);
}

} // namespace ns3::gradsync
