// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_EXECUTION_H
#define GRADSYNC_TRAINING_EXECUTION_H

#include "ns3/collective-records.h"
#include "ns3/ranked-job.h"
#include "ns3/scoped-event.h"
#include "ns3/training-job.h"
#include "ns3/workload-execution.h"
#include "ns3/workload-roster.h"

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
 *
 * Among several processes each has the tasks of its own ranks in its logs, and tells of no
 * iterations, which only all logs together show.
 */
class TrainingExecution final : public RankedJob,
                                public std::enable_shared_from_this<TrainingExecution>,
                                private RankOwner,
                                private WorkloadExecution::Owner
{
  public:
    /**
     * \param applications [rank]; they are attached to this execution until it ends
     * \throws std::runtime_error with a text for the user when the network cannot aggregate as it
     * asks
     */
    TrainingExecution(const JobSite& site,
                      uint32_t index,
                      TrainingJob job,
                      std::vector<Ptr<ExchangeApplication>> applications);

    // EngineJob
    bool IsFinished() const override;
    ExchangeFailure DescribeFailure() const override;
    uint64_t CountDoneOperations() const override;
    uint64_t CountRecordedCollectives() const override;
    std::string FindTwinDifference() const override;
    void AddState(StateWords& words) const override;
    void OnCrash(uint32_t endpoint) override;
    void OnRestart(uint32_t endpoint) override;
    void OnNotice(uint32_t rank) override;
    void OnRebuilt(uint32_t group) override;

  private:
    // RankOwner
    void OnRankStarted() override;
    bool ComputesFirst() const override;
    void OnRankExchanging(uint32_t rank, const Time& since) override;

    // WorkloadExecution::Owner
    void OnWorkloadEnded(WorkloadExecution& execution) override;
    void OnWorkloadDelivered(WorkloadExecution& execution, uint64_t bytes) override;
    void OnWorkloadFailed(WorkloadExecution& execution,
                          const std::string& reason,
                          bool isOfNetwork) override;

    void BeginIteration();
    void GoOn();
    void OnBoundary();
    void BeginRun();
    void EndRun();
    const WorkloadShare* ProvideShare();
    CollectiveRecords* FindRecords();
    void FallBack();
    void BeginAnew(std::shared_ptr<const Workload> workload);
    void React(uint32_t rank, ReactionKind kind);
    void GoOnWithout(uint32_t rank);
    void OnTimeout();
    void Fail(std::string cause);

    TrainingJob m_job;
    WorkloadRoster m_roster;
    std::unique_ptr<CollectiveRecords> m_records; //!< of the job's own workload; may be null
    std::unique_ptr<WorkloadParts>
        m_parts;             //!< of the job's own workload; null: this process has all
    WorkloadShare m_share{}; //!< of the run in hand, where there are several
    std::unique_ptr<WorkloadExecution> m_execution; //!< of the iteration in hand
    ScopedEvent m_noticeEvent;
    uint32_t m_iteration{0};
    uint64_t m_delivered{0}; //!< messages so far
    uint64_t m_doneTasks{0}; //!< of runs that have ended
    Time m_begin;            //!< of the iteration in hand
    Time m_resumed;          //!< when its workload began
    ScopedEvent m_boundaryEvent;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_EXECUTION_H
