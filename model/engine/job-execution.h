// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_JOB_EXECUTION_H
#define GRADSYNC_JOB_EXECUTION_H

#include "ns3/distant-ends.h"
#include "ns3/job.h"
#include "ns3/late-operations.h"
#include "ns3/plan-aggregations.h"
#include "ns3/plan-execution.h"
#include "ns3/plan-roster.h"
#include "ns3/ranked-job.h"
#include "ns3/round-gate.h"
#include "ns3/scoped-event.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * Runs the iterations of one job, one after the other: ranks compute, then a PlanExecution
 * exchanges the gradient. When a rank or the switches that aggregate are lost, it goes on with
 * another plan and an execution of that.
 */
class JobExecution final : public RankedJob,
                           public std::enable_shared_from_this<JobExecution>,
                           private RankOwner,
                           private PlanExecution::Listener,
                           private LateOperations::Listener,
                           private RoundGate::Owner
{
  public:
    /**
     * \param applications [rank]; they are attached to this execution until it ends
     * \throws std::runtime_error with a text for the user when the network cannot aggregate as it
     * asks
     */
    JobExecution(const JobSite& site,
                 uint32_t index,
                 Job job,
                 std::vector<Ptr<ExchangeApplication>> applications);

    // EngineJob
    bool IsFinished() const override;
    ExchangeFailure DescribeFailure() const override;
    std::span<const ExecutedPlan> GetPlans() const override;
    uint64_t CountDoneOperations() const override;
    bool HasLateOperations() const override;
    void AddState(StateWords& words) const override;
    void OnCrash(uint32_t endpoint) override;
    void OnRestart(uint32_t endpoint) override;
    void OnNotice(uint32_t rank) override;
    void OnRebuilt(uint32_t group) override;

  private:
    // RankOwner
    void OnRankStarted() override;
    bool ComputesFirst() const override;
    void OnRankExchanging(uint32_t rank, const Time& computedSince) override;

    // PlanExecution::Listener
    void OnEnded(PlanExecution& execution) override;
    void OnAnswer(PlanExecution& execution) override;
    void OnTransferDelivered(PlanExecution& execution, OperationId id, uint64_t bytes) override;
    void OnWorked(PlanExecution& execution, OperationId id) override;
    void OnRankTrained(PlanExecution& execution, uint32_t rank, const Time& since) override;
    void OnTransferFailed(PlanExecution& execution,
                          OperationId id,
                          const std::string& reason) override;
    void OnSumWrong(PlanExecution& execution, OperationId id, const std::string& reason) override;

    // LateOperations::Listener
    void OnLateDelivered(const LateOperations& late, OperationId id, const Time& sentAt) override;
    void OnLateTrained(const LateOperations& late, uint32_t rank, const Time& since) override;
    void OnLateAnswer(const LateOperations& late) override;

    // RoundGate::Owner
    bool HasLost() const override;
    bool IsGivenUp(uint32_t rank) const override;
    void OnGateClosing() override;
    void OnNobodyAnswered(const Time& timeout) override;

    // Iterations: job-execution.cc.
    template <typename F>
    std::function<void()> Later(F action);
    void BeginIteration();
    void GoOn();
    void EndIteration();
    void OnBoundary();
    bool BeginRanks();
    void BeginExecution();
    bool IsPlanRankHere(uint32_t rank) const;
    const DistantEnds* ProvideDistantEnds();
    void DropExecution();
    void Use(uint32_t plan);
    void SetCodecTimes();
    const ExecutedPlan& GetPlan() const;
    std::optional<uint32_t> FindPlanRank(uint32_t rank) const;
    void OnTimeout();
    void Fail(std::string cause);
    std::string GetFailureCause() const;

    // Reactions to the loss of ranks and switches: job-reactions.cc.
    template <typename F>
    void Soon(F action);
    bool ChoosePlan();
    void GoOnWithout(uint32_t rank);
    void FallBack(uint32_t execution);
    void RestartOrFallBack(const std::vector<uint32_t>& ranks, std::optional<uint64_t> bytes);
    void Restart(uint32_t plan);
    void React(uint32_t rank, size_t survivors, uint64_t bytes, ReactionKind kind);
    void TraceFallback(const std::vector<uint32_t>& ranks, uint64_t bytes);
    std::vector<uint32_t> FindSurvivors() const;
    std::optional<uint64_t> FindMissingBytes() const;
    bool CanDoWithout(uint32_t rank) const;
    void LoseWorker(uint32_t rank);
    bool UsePart(const std::vector<bool>& isLost);

    Job m_job;
    PlanRoster m_roster;
    PlanAggregations m_aggregations;
    RoundGate m_gate;
    std::unique_ptr<DistantEnds> m_distant; //!< of the plan in use; null: no process tells others
    std::optional<uint32_t> m_distantPlan;  //!< that m_distant was made for
    std::unique_ptr<PlanExecution> m_execution; //!< of the iteration in hand
    uint32_t m_planIndex{0};                    //!< of the plan in use
    std::set<uint32_t> m_down;                  //!< ranks that are known to be down
    std::set<uint32_t> m_lost;                  //!< ranks that this iteration is known to have lost
    IterationRecord m_record;
    uint64_t m_doneBefore{0}; //!< operations of executions before the one in hand
    uint32_t m_iteration{0};
    uint32_t m_lateAnswers{0}; //!< that were dropped since this iteration began
    bool m_running{false};     //!< an iteration has begun and is not done
    bool m_finished;
    ScopedEvent m_boundaryEvent;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_JOB_EXECUTION_H
