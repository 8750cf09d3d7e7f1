// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ASYNCHRONOUS_EXECUTION_H
#define GRADSYNC_ASYNCHRONOUS_EXECUTION_H

#include "ns3/asynchronous-job.h"
#include "ns3/asynchronous-transfers.h"
#include "ns3/engine-job.h"
#include "ns3/execution-table.h"
#include "ns3/job-listener.h"
#include "ns3/parameter-servers.h"
#include "ns3/scoped-event.h"
#include "ns3/stage-progress.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * Runs a job whose workers wait for no one but the bound.
 *
 * A step of a worker is a computation; then it pushes, and goes on at once, or fetches, and goes on
 * when it has all shards. A server answers a fetch when it has what the worker pushed, or its
 * request, and the bound allows the next step. Stages follow each other when all is applied; a
 * later one begins with a fetch.
 *
 * Where fetches overlap, a worker asks for one on its own and goes on; the servers answer with what
 * they have. It waits for one that is under way when the next one is due, and for what the bound
 * asks.
 *
 * Iteration i is done when all workers of its stage may begin the step after it. A worker that is
 * lost is not waited for; a server that is lost ends the job by name.
 */
class AsynchronousExecution final : public EngineJob,
                                    private RankOwner,
                                    private OperationObserver,
                                    private AsynchronousTransfers::Observer,
                                    private ParameterServers::Observer
{
  public:
    /// \param applications [rank]; they are attached to this execution until it ends
    AsynchronousExecution(const JobSite& site,
                          uint32_t index,
                          AsynchronousJob job,
                          std::vector<Ptr<ExchangeApplication>> applications);
    ~AsynchronousExecution() override;

    // EngineJob
    const std::string& GetName() const override;
    Ptr<ExchangeApplication> GetApplication(uint32_t rank) const override;
    bool IsFinished() const override;
    bool HasFailed() const override;
    ExchangeFailure DescribeFailure() const override;
    uint64_t CountDoneOperations() const override;
    std::optional<uint32_t> FindRank(uint32_t endpoint) const override;
    void OnCrash(uint32_t endpoint) override;
    void OnRestart(uint32_t endpoint) override;
    void OnNotice(uint32_t rank) override;

  private:
    // RankOwner
    void OnRankStarted() override;
    bool ComputesFirst() const override;
    void OnRankExchanging(uint32_t rank, const Time& since) override;

    // OperationObserver: computations; the id is the worker's. Nobody trains here, and computations
    // are handed to no network.
    void OnComputed(OperationId id) override;

    void OnDelivered(OperationId /* id */) override
    {
    }

    void OnTrained(OperationId /* id */, uint32_t /* rank */, const Time& /* since */) override
    {
    }

    void OnSkipped(OperationId /* id */) override
    {
    }

    void OnFailed(OperationId /* id */, const std::string& /* reason */) override
    {
    }

    void OnWrongSum(OperationId /* id */, const std::string& /* reason */) override
    {
    }

    // AsynchronousTransfers::Observer
    void OnArrived(ShardTransfer& transfer, uint32_t shard) override;
    void OnDone(const ShardTransfer& transfer) override;
    void OnMessage(uint64_t bytes) override;
    void OnLost(uint32_t worker, uint32_t server, const std::string& reason) override;

    // ParameterServers::Observer
    void OnApplied(const ShardTransfer& push, uint32_t slowest) override;
    void OnAnswer(uint32_t pull, uint32_t shard) override;

    /// What a worker has in hand.
    struct Worker
    {
        bool hasStarted{false};
        uint32_t slowest{0};     //!< clock of the slowest, as it heard last
        bool waitsToGoOn{false}; //!< until the fetch under way is there, with what follows its step
        std::shared_ptr<const OthersUpdates> parameters; //!< that it has,
        std::shared_ptr<const OthersUpdates> used;       //!< and that it computes with
        Time computesSince{};
        WorkerStepRecord record{}; //!< of the step in hand
    };

    bool IsRunning() const;
    void BeginStage();
    void BeginWorker(uint32_t worker);
    void EndStageIfDone();
    void Compute(uint32_t worker);
    void GoOn(uint32_t worker, bool pushes);
    bool IsTooFar(uint32_t worker) const;
    std::optional<uint32_t> Fetch(uint32_t worker, bool asks, bool blocks);
    void TakeParameters(uint32_t worker);
    void Complete(uint32_t worker);
    void TellIterations(uint32_t completed);
    void StartTimeout();
    void OnTimeout();
    void LoseWorker(uint32_t worker);
    void FailWithoutWorkers();
    void Fail(std::string cause);

    JobSite m_site;
    uint32_t m_index;
    AsynchronousJob m_job;
    std::vector<Ptr<ExchangeApplication>> m_applications;
    ExecutionTable m_executions;
    uint32_t m_number; //!< of computations
    AsynchronousTransfers m_transfers;
    StageProgress m_progress;
    ParameterServers m_servers;
    std::vector<Worker> m_workers;
    uint32_t m_told{0}; //!< iterations of this stage
    Time m_toldUntil;
    ScopedEvent m_timeoutEvent;
    bool m_hasBegun{false};
    std::optional<std::string> m_failure;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ASYNCHRONOUS_EXECUTION_H
