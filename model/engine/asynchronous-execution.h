// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ASYNCHRONOUS_EXECUTION_H
#define GRADSYNC_ASYNCHRONOUS_EXECUTION_H

#include "ns3/asynchronous-job.h"
#include "ns3/engine-job.h"
#include "ns3/execution-table.h"
#include "ns3/job-listener.h"
#include "ns3/parameter-clocks.h"
#include "ns3/plan-execution.h"

#include <cstdint>
#include <map>
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
 * Iteration i is done when all workers of its stage may begin the step after it. A worker that is
 * lost is not waited for; a server that is lost ends the job by name.
 */
class AsynchronousExecution final : public EngineJob,
                                    private RankOwner,
                                    private OperationObserver,
                                    private PlanExecution::Listener
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
    enum class Kind : uint8_t
    {
        Push,
        Pull,
        Request
    };

    /// Something that is under way between a worker and the servers.
    struct Run
    {
        Kind kind;
        uint32_t worker;
        uint32_t clock;        //!< of the worker, with what it pushes
        uint32_t staleness{0}; //!< of a push, so far
        uint32_t applied{0};   //!< shards
        std::unique_ptr<PlanExecution> execution;
    };

    struct Worker
    {
        uint32_t step{0};      //!< computed in this stage
        uint32_t completed{0}; //!< and nothing more is waited for
        uint32_t slowest{0};   //!< clock of the slowest, as it heard last
        bool isFinished{true}; //!< with the stage
        bool isLost{false};
        bool hasStarted{false};
        uint32_t pull{UINT32_MAX}; //!< number of the fetch under way
        std::vector<bool> asked;   //!< [shard] it may be answered
        std::vector<bool> answered;
    };

    // RankOwner
    void OnRankStarted() override;
    bool ComputesFirst() const override;
    void OnRankExchanging(uint32_t rank, const Time& since) override;

    // OperationObserver: computations; the id is the worker's
    void OnDelivered(OperationId id) override;
    void OnComputed(OperationId id) override;
    void OnTrained(OperationId id, uint32_t rank, const Time& since) override;
    void OnSkipped(OperationId id) override;
    void OnFailed(OperationId id, const std::string& reason) override;
    void OnWrongSum(OperationId id, const std::string& reason) override;

    // PlanExecution::Listener
    void OnRankEnded(PlanExecution& execution, uint32_t member) override;
    void OnEnded(PlanExecution& execution) override;
    void OnTransferDelivered(PlanExecution& execution, OperationId id) override;
    void OnTransferFailed(PlanExecution& execution,
                          OperationId id,
                          const std::string& reason) override;
    void OnSumWrong(PlanExecution& execution, OperationId id, const std::string& reason) override;

    const AsynchronousStage& GetStage() const;
    bool IsRunning() const;
    void BeginStage();
    void BeginWorker(uint32_t worker);
    void EndStageIfDone();
    void Compute(uint32_t worker);
    Run& Add(Kind kind, uint32_t worker);
    void Push(uint32_t worker);
    void Fetch(uint32_t worker, bool asks);
    void Apply(Run& run, uint32_t shard);
    void Ask(uint32_t worker, uint32_t shard);
    void Answer(uint32_t shard);
    bool MayAnswer(const Worker& worker, uint32_t shard) const;
    void Complete(uint32_t worker);
    void TellIterations(uint32_t completed);
    uint32_t GetSlowest(uint32_t shard) const;
    std::vector<uint32_t> FindActive() const;
    void LoseWorker(uint32_t worker);
    void Fail(std::string cause);

    JobSite m_site;
    uint32_t m_index;
    AsynchronousJob m_job;
    AsynchronousPlans m_plans;
    std::vector<Ptr<ExchangeApplication>> m_applications;
    ExecutionTable m_executions;
    uint32_t m_number;              //!< of computations
    std::map<uint32_t, Run> m_runs; //!< by number of the execution
    std::vector<Worker> m_workers;
    std::vector<uint32_t> m_active; //!< workers of the stage that are not lost
    ParameterClocks m_clocks;
    uint32_t m_stage{0};
    uint32_t m_stepsBefore{0}; //!< of earlier stages
    uint32_t m_told{0};        //!< iterations of this stage
    Time m_toldUntil;
    bool m_hasBegun{false};
    uint64_t m_delivered{0}; //!< messages so far
    std::optional<std::string> m_failure;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ASYNCHRONOUS_EXECUTION_H
