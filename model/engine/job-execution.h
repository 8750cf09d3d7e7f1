// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_JOB_EXECUTION_H
#define GRADSYNC_JOB_EXECUTION_H

#include "ns3/event-id.h"
#include "ns3/exchange-application.h"
#include "ns3/exchange-engine.h"
#include "ns3/late-operations.h"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * The progress of one job: which operations of its plan wait, run or are done.
 *
 * Four bytes per operation, and eight more while somebody listens to the trace source "Transfer".
 */
class JobExecution
{
  public:
    /// \param applications [rank]; they are attached to this execution until it ends
    JobExecution(ExchangeEngine& engine,
                 uint32_t index,
                 Job job,
                 std::vector<Ptr<ExchangeApplication>> applications);
    ~JobExecution();
    JobExecution(const JobExecution&) = delete;
    JobExecution& operator=(const JobExecution&) = delete;

    const Job& GetJob() const;
    Ptr<ExchangeApplication> GetApplication(uint32_t rank) const;
    bool IsFinished() const;
    /// Of a job that is not finished.
    ExchangeFailure DescribeFailure() const;
    bool HasFailed() const;
    std::span<const ExecutedPlan> GetPlans() const;

    /// Of a message: the operation, and in the upper half how many plans were abandoned before.
    uint64_t MakeTag(OperationId id) const
    {
        return uint64_t{m_attempt} << 32 | id;
    }

    /// False for what an abandoned plan left behind.
    bool IsCurrent(uint64_t tag) const
    {
        return tag >> 32 == m_attempt;
    }

    // Called by the applications.
    void OnRankStarted();
    /// \param computedSince when its computation began
    void OnRankExchanging(uint32_t rank,
                          const Time& computedSince,
                          std::span<const OperationId> deferred);
    /// \returns the bytes of the transfer
    uint64_t OnTransferDelivered(OperationId id);
    void OnOperationDone(OperationId id);
    void OnTransferFailed(OperationId id, const std::string& reason);
    void OnWrongSum(OperationId id, const std::string& reason);
    bool IsReduce(OperationId id) const;

    // What plans with a gate do not wait for. Called by the applications and the engine.
    /// Whether the plan says when workers compute; else they do so before the exchange.
    bool TrainsInPlan() const;
    void OnTrained(uint64_t tag, uint32_t rank, const Time& since);
    void OnLateDone(uint64_t tag);
    void ForgetLate(uint64_t tag);
    void OnGateTimeout();
    void CloseGate();
    void LoseWorker(uint32_t rank);

    /// Of all iterations and plans so far.
    uint64_t CountDoneOperations() const
    {
        return m_doneCount;
    }

    bool HasLateOperations() const
    {
        return !m_late.IsEmpty();
    }

    /// How long a computation takes that begins now.
    Time StretchCompute(uint32_t endpoint, const Time& duration);

    /// Starts the operations that became ready at this instant. Called by the engine.
    void StartReady();

    /// The iteration took too long. Called by the engine.
    void OnTimeout();

    // What happens to hosts. Called by the engine.
    std::optional<uint32_t> FindRank(uint32_t endpoint) const;
    void OnCrash(uint32_t endpoint);
    void OnRestart(uint32_t endpoint);
    /// The job learns that a rank has crashed.
    void OnNotice(uint32_t rank);

    /// The network does not add up any more. \param attempt that it did so for
    void OnAggregationLost(uint32_t attempt);
    /// Other switches add up for a group of the transport.
    void OnRebuilt(uint32_t group);

  private:
    void BeginIteration();
    void FinishIterationIfDone();
    void MakeReady(OperationId id);
    void MarkDone(OperationId id);
    std::string GetFailureCause() const;
    void Fail(std::string cause);

    static constexpr OperationId NO_OPERATION = UINT32_MAX;
    static constexpr uint32_t DONE = UINT32_MAX;
    static constexpr uint32_t STARTED = UINT32_MAX - 1;

    bool IsDone(OperationId id) const
    {
        return m_waiting[id] == DONE;
    }

    // The part of gates: job-rounds.cc.
    enum class GateState : uint8_t
    {
        Open,
        Closing, //!< when this instant is over
        Closed
    };

    void OpenGate();
    void OnAnswer();
    bool HasAllAnswers() const;
    void CloseGateIfEnough();
    std::map<OperationId, LateOperations::Entry> LeaveOut(const std::vector<bool>& isLost);
    std::vector<uint64_t> FindKept(
        uint32_t attempt,
        const std::map<OperationId, LateOperations::Entry>& entries) const;
    bool UsePart(const std::vector<bool>& isLost);
    bool CanDoWithout(uint32_t rank) const;
    void StartTraining(OperationId id);
    void StartLate(uint64_t tag);

    // The part of plans and survivors: job-survivors.cc.
    bool ChoosePlan();
    void UsePlan(uint32_t index);
    uint32_t FindWholePlan(const std::vector<uint32_t>& ranks);
    uint32_t FindWholeFallback(const std::vector<uint32_t>& ranks);
    uint32_t AddPlan(const std::vector<uint32_t>& ranks,
                     std::optional<uint64_t> bytes,
                     const SurvivorPlanner& planner);
    void RestartOrFallBack(const std::vector<uint32_t>& ranks, std::optional<uint64_t> bytes);
    void RestartWithFallback(const std::vector<uint32_t>& ranks, std::optional<uint64_t> bytes);
    std::vector<uint32_t> DropServers(std::vector<uint32_t> ranks) const;
    void TraceFallback(uint64_t bytes);
    void TakeLaterPlan();
    bool UseOrFallBack(uint32_t plan, const std::vector<uint32_t>& ranks);
    std::optional<uint64_t> FindMissingBytes() const;
    void AbandonPlans();
    void GoOnWithout(uint32_t rank);
    void TraceLoss(uint32_t rank);
    void Restart(uint32_t plan);
    std::vector<uint32_t> FindSurvivors() const;
    std::vector<bool> FindMissingChunks() const;
    uint64_t CountBytes(const std::vector<bool>& missing) const;
    static void CancelEvent(const EventId& event);
    void SumComputeTimes();

    // The part of aggregations: job-aggregations.cc.
    void OpenAggregations();
    void CloseAggregations();
    void StartAggregation(OperationId id);
    void CountInFlight(int change);

    ExchangeEngine& m_engine;
    uint32_t m_index;
    Job m_job;
    std::vector<Ptr<ExchangeApplication>> m_applications; //!< [rank]
    std::vector<ExecutedPlan> m_plans;
    std::map<std::vector<uint32_t>, uint32_t>
        m_planOf; //!< ranks -> their plan for all of a gradient
    std::map<std::vector<uint32_t>, uint32_t> m_fallbackOf; //!< likewise, without switches
    uint32_t m_planIndex{0};
    const Plan* m_plan;                          //!< the one in use
    std::vector<ExchangeApplication*> m_members; //!< [rank of the plan in use]
    /// Plans abandoned and gates closed so far: what belongs to earlier ones is not waited for.
    uint32_t m_attempt{0};
    std::set<uint32_t> m_down; //!< ranks that are known to be down
    std::set<uint32_t> m_lost; //!< ranks that this iteration is known to have lost
    /// [operation] -> predecessors not done, or one of the two marks STARTED and DONE.
    std::vector<uint32_t> m_waiting;
    std::vector<Time> m_sentAt;               //!< [operation]; empty when nobody traces transfers
    std::vector<uint32_t> m_aggregations;     //!< [group of the plan in use] -> of the transport
    std::vector<uint32_t> m_aggregationIndex; //!< [operation] in its group; empty without groups
    std::vector<uint32_t> m_aggregationCount; //!< [group] in one iteration
    uint64_t m_aggregationRounds{0};          //!< iterations since they were opened
    std::vector<OperationId> m_ready;
    std::vector<OperationId> m_starting; //!< m_ready of the instant in hand; kept for its memory
    std::vector<OperationId> m_done;     //!< operations done whose successors are not told yet
    IterationRecord m_record;
    Time m_compress;      //!< of an iteration, at the rank that has the most of it
    Time m_decompress;    //!< likewise
    Time m_inFlightSince; //!< there are transfers on their way; only for compressed plans
    uint32_t m_inFlight{0};
    uint32_t m_iteration{0};
    uint32_t m_left{0};      //!< operations that are not done
    uint64_t m_doneCount{0}; //!< operations done since the job began
    uint32_t m_workersExchanging{0};
    bool m_startScheduled{false}; //!< StartReady is called before this instant is over
    bool m_markingDone{false};    //!< MarkDone is at work further up the stack
    bool m_running{false};        //!< an iteration has begun and is not done
    bool m_finished{false};
    std::optional<std::string> m_failure;
    EventId m_timeoutEvent;
    OperationId m_gateOperation{NO_OPERATION}; //!< of the plan in use
    GateState m_gateState{GateState::Open};
    uint32_t m_answers{0};     //!< that arrived before the gate closed
    uint32_t m_lateAnswers{0}; //!< that arrived later since this iteration began
    EventId m_gateEvent;
    /// Plan and the ranks left of it -> the index of the plan of these.
    std::map<std::pair<uint32_t, std::vector<uint32_t>>, uint32_t> m_partOf;
    LateOperations m_late;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_JOB_EXECUTION_H
