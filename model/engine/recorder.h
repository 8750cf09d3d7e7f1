// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RECORDER_H
#define GRADSYNC_RECORDER_H

#include "ns3/exchange-engine.h"

#include <span>
#include <vector>

namespace ns3::gradsync
{

/**
 * Keeps what the trace sources of an engine report, in the order in which it happened.
 *
 * A transfer takes 32 bytes here and 8 in the engine: leave them out where a run has millions.
 */
class Recorder
{
  public:
    enum class Detail
    {
        Iterations,
        Transfers, //!< iterations and transfers
        Work       //!< these and what ranks compute for operations
    };

    /// Listens from now until it is destroyed; construct it before the simulation runs.
    Recorder(const Ptr<ExchangeEngine>& engine, Detail detail);
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    std::span<const IterationRecord> GetIterations() const;
    /// In order of delivery.
    std::span<const TransferRecord> GetTransfers() const;
    std::span<const ReactionRecord> GetReactions() const;
    /// Empty without transfers.
    std::span<const ComputeRecord> GetComputations() const;
    /// In order of their ends.
    std::span<const WorkRecord> GetWork() const;

  private:
    void OnIteration(const IterationRecord& record);
    void OnTransfer(const TransferRecord& record);
    void OnReaction(const ReactionRecord& record);
    void OnCompute(const ComputeRecord& record);
    void OnWork(const WorkRecord& record);

    Ptr<ExchangeEngine> m_engine;
    Detail m_detail;
    std::vector<IterationRecord> m_iterations;
    std::vector<TransferRecord> m_transfers;
    std::vector<ReactionRecord> m_reactions;
    std::vector<ComputeRecord> m_computations;
    std::vector<WorkRecord> m_work;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RECORDER_H
