// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PART_RECORDS_H
#define GRADSYNC_PART_RECORDS_H

#include "ns3/byte-batch.h"
#include "ns3/exchange-engine.h"
#include "ns3/recorder.h"
#include "ns3/run-result.h"
#include "ns3/window-simulator-impl.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// What the records of a run leave out that one process alone does not need: the place among
/// simultaneous events of that in which each was made. Listens from now until it is destroyed.
class RecordOrders
{
  public:
    /// \param simulator must outlive it \param detail of the records
    RecordOrders(const Ptr<ExchangeEngine>& engine,
                 const WindowSimulatorImpl& simulator,
                 Recorder::Detail detail);
    ~RecordOrders();
    RecordOrders(const RecordOrders&) = delete;
    RecordOrders& operator=(const RecordOrders&) = delete;

    std::vector<uint32_t> transfers;    //!< [transfer] as the recorder of the run has it
    std::vector<uint32_t> computations; //!< likewise
    std::vector<uint32_t> work;         //!< likewise

  private:
    void OnTransfer(const TransferRecord& record);
    void OnCompute(const ComputeRecord& record);
    void OnWork(const WorkRecord& record);

    Ptr<ExchangeEngine> m_engine;
    const WindowSimulatorImpl& m_simulator;
    Recorder::Detail m_detail;
};

/// Adds the transfers, computations and work of a process to a batch.
void AppendRecords(ByteBatch& batch, const RunResult& result, const RecordOrders& orders);

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

/// The transfers, computations and work of all processes.
class MergedRecords
{
  public:
    /// Takes those of one process behind those of the ones before. \param batch as of AppendRecords
    /// \throws std::runtime_error where the ranks sent twice at one instant, which one process
    /// alone would have had in another order
    void Take(BatchReader& batch);

    /// Puts them in the place of those of one process, in the order in which one process alone
    /// would have made them.
    void PutInOrder(RunResult& result);

  private:
    std::vector<PackedRecord> m_transfers;
    std::vector<PackedRecord> m_computations;
    std::vector<PackedRecord> m_work;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PART_RECORDS_H
