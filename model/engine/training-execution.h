// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_EXECUTION_H
#define GRADSYNC_TRAINING_EXECUTION_H

#include "ns3/engine-job.h"
#include "ns3/execution-table.h"
#include "ns3/job-listener.h"
#include "ns3/scoped-event.h"
#include "ns3/training-job.h"
#include "ns3/workload-execution.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * Runs a workload again and again: the next run begins when all ranks are done. Iterations within a
 * run overlap as the workload draws it.
 *
 * When a rank is lost, the survivors begin the run anew with a workload of their own, where the job
 * has one (data-parallel ranks alone hold all of the model each); else the job ends by name.
 */
class TrainingExecution final : public EngineJob,
                                private RankOwner,
                                private WorkloadExecution::Owner
{
  public:
    /// \param applications [rank]; they are attached to this execution until it ends
    TrainingExecution(const JobSite& site,
                      uint32_t index,
                      TrainingJob job,
                      std::vector<Ptr<ExchangeApplication>> applications);
    ~TrainingExecution() override;

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

    // WorkloadExecution::Owner
    void OnWorkloadEnded(WorkloadExecution& execution) override;
    void OnWorkloadDelivered(WorkloadExecution& execution, uint64_t bytes) override;
    void OnWorkloadFailed(WorkloadExecution& execution, const std::string& reason) override;

    void BeginIteration();
    void BeginRun();
    void GoOnWithout(uint32_t rank);
    void OnTimeout();
    void Fail(std::string cause);
    std::vector<IterationRecord> MakeRecords() const;

    JobSite m_site;
    uint32_t m_index;
    TrainingJob m_job;
    std::vector<Ptr<ExchangeApplication>> m_applications;
    ExecutionTable m_executions;
    std::unique_ptr<WorkloadExecution> m_execution; //!< of the iteration in hand
    std::optional<std::string> m_failure;
    std::vector<uint32_t> m_ranks; //!< [rank of the workload] those of the job that are left
    ScopedEvent m_noticeEvent;
    uint32_t m_iteration{0};
    uint64_t m_delivered{0}; //!< messages so far
    uint64_t m_doneTasks{0}; //!< of runs that have ended
    Time m_begin;            //!< of the iteration in hand
    ScopedEvent m_timeoutEvent;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_EXECUTION_H
