// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_EXECUTION_H
#define GRADSYNC_PLAN_EXECUTION_H

#include "ns3/end-teller.h"
#include "ns3/execution-table.h"
#include "ns3/operation-ledger.h"
#include "ns3/plan-aggregations.h"
#include "ns3/plan-listener.h"
#include "ns3/plan-ranks.h"
#include "ns3/plan-sender.h"
#include "ns3/plan.h"
#include "ns3/rank-ends.h"
#include "ns3/rank-launches.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

class DistantEnds;
class ExchangeApplication;
class RankShare;
class SendingTurns;
class TransferCarrier;

/// An operation that nobody waits for any more, and that was not done.
struct LeftOperation
{
    uint32_t waiting; //!< operations before it that are not done
    bool isSent;      //!< a transfer under way
    Time sentAt;      //!< of that
};

/**
 * One run of one plan on given ranks. Any number of them run at once on the same ranks.
 *
 * Each rank starts on its own: what the plan asks of it waits until then, and for as long as the
 * protocol of the plan takes before its first message. It receives at any time, and adds what it
 * receives. It ends on its own, too: when every operation that it executes or receives is done; a
 * transfer, for its sender, when it is delivered. That is when its last byte has arrived and the
 * time of a hop of the protocol is over.
 *
 * The whole ends when every operation is done and every worker has started; where several processes
 * share it, every operation that a rank of this one executes or receives, and every worker of it;
 * where ranks are told, when all ranks of this one have ended.
 * Operations that become ready at one instant start in ascending id.
 */
class PlanExecution final : private OperationObserver
{
  public:
    using Listener = PlanListener;

    struct Setup
    {
        std::shared_ptr<const Plan> plan;
        std::vector<ExchangeApplication*> ranks; //!< [rank of the plan]; they outlive the execution
        AggregationTurn aggregations{};          //!< of plans that the network aggregates for
        /// Added to the streams of the plan: executions that have some in common share connections
        /// and so follow each other, others share the links.
        uint32_t firstStream{0};
        bool keepsTimes{false};            //!< of transfers: OperationLedger::GetSentAt
        bool tellsRanks{false};            //!< Listener::OnRankEnded
        TransferCarrier* carrier{nullptr}; //!< of its messages; outlives the execution
        bool timesNetwork{false};          //!< GetNetworkTime
        /// Its place among executions that have something to send at one instant, after all else;
        /// nothing: the one that was ready first sends first.
        std::optional<uint32_t> turn{};
        std::optional<uint32_t> number{}; //!< that it is to have; nothing: any
        bool hasGate{false}; //!< its gate passes by PassGate; else when all before it is done
        /// Of what this process simulates; it outlives the execution. Ranks that others simulate
        /// are not started here. nullptr: all.
        RankShare* share{nullptr};
        uint32_t job{0}; //!< index of the job, for the share and the turns
        /// Of all jobs; outlives the execution. nullptr: nobody else sends.
        SendingTurns* turns{nullptr};
        /// With a share: which ends other processes wait for; outlives the execution. nullptr:
        /// none.
        const DistantEnds* distant{nullptr};
    };

    /// \param executions of the ranks; outlives the execution, as does the listener
    PlanExecution(ExecutionTable& executions, Listener& listener, Setup setup);
    ~PlanExecution();
    PlanExecution(const PlanExecution&) = delete;
    PlanExecution& operator=(const PlanExecution&) = delete;

    /// A rank of the plan begins with what is ready for it, in the order in which it became so.
    void Start(uint32_t rank);
    /// Several begin at one instant: what is ready is begun in ascending id over all of them.
    void StartTogether(std::span<const uint32_t> ranks);
    /// A rank that another process simulates begins there, at this instant. Only where what this
    /// one follows waits for that (DistantEnds::IsStartFollowed).
    void StartElsewhere(uint32_t rank);
    /// A rank does nothing more.
    void Withdraw(uint32_t rank);
    /// No transfer is started any more.
    void Halt();

    /// Sends at once what is ready, not when this instant is over.
    void SendReady()
    {
        m_sender.SendReady();
    }

    const Plan& GetPlan() const
    {
        return *m_plan;
    }

    std::shared_ptr<const Plan> SharePlan() const
    {
        return m_plan;
    }

    const OperationLedger& GetLedger() const
    {
        return m_ledger;
    }

    ExchangeApplication& GetRank(uint32_t rank) const
    {
        return m_ranks.Get(rank);
    }

    uint32_t GetRankCount() const
    {
        return m_ranks.GetCount();
    }

    uint32_t GetFirstStream() const
    {
        return m_sender.GetFirstStream();
    }

    /// Of its messages, see ExecutionTable.
    uint32_t GetNumber() const
    {
        return m_number;
    }

    /// How long a rank is busy with an operation, beside its transfer.
    Time GetWorkTime(OperationId id) const;

    /// For how long a transfer was on its way. Where Setup::timesNetwork asks for it, of plans that
    /// are compressed or have a gate; else 0, as with a RankShare, which is told of each.
    Time GetNetworkTime() const
    {
        return m_sender.GetNetworkTime();
    }

    // For plans with a gate.
    /// The operations before the gate that count are done; it ends with a call of EndIfDone.
    void PassGate();
    /// What is at lost ranks, or waits for them, is not waited for any more. \returns those of it
    /// that were not done. \param isLost [rank]
    std::map<OperationId, LeftOperation> LeaveOut(const std::vector<bool>& isLost);
    /// From now on its messages have another number. \returns the one that they had
    uint32_t Renumber();
    /// Tells the listener what has ended. The last thing to call: it may be gone afterwards.
    void EndIfDone();

  private:
    static constexpr OperationId NO_OPERATION = UINT32_MAX;

    void OnDelivered(OperationId id) override;
    void OnSentElsewhere(OperationId id, const Time& at) override;
    void OnArriving(OperationId id, const Time& at, uint32_t order) override;
    void OnTold(OperationId id, OperationNews news) override;
    void OnDelayed(OperationId id) override;
    void OnComputed(OperationId id) override;
    void OnTrained(OperationId id, uint32_t rank, const Time& since) override;
    void OnSkipped(OperationId id) override;
    void OnFailed(OperationId id, const std::string& reason) override;
    void OnWrongSum(OperationId id, const std::string& reason) override;

    void OnLaunched(std::span<const uint32_t> ranks);
    void Begin(std::span<const uint32_t> ranks);
    void BeginElsewhere(uint32_t rank);
    std::vector<OperationId> Admit(uint32_t rank);
    void MakeReady(std::span<const OperationId> ids);
    void MakeReady(OperationId id);
    void MakeFollowedReady(OperationId id, uint32_t rank);
    bool Compute(OperationId id, const Operation& operation);
    void Deliver(OperationId id, const Operation& operation);
    void Finish(OperationId id);
    void MarkDone(OperationId id);
    void ReleaseSuccessors(OperationId id);
    void FinishPart(uint32_t rank);
    void LeaveOut(OperationId id);
    uint64_t MakeTag(OperationId id) const;
    bool IsDone() const;

    ExecutionTable& m_executions;
    Listener& m_listener;
    std::shared_ptr<const Plan> m_plan;
    PlanRanks m_ranks;
    OperationLedger m_ledger;
    uint32_t m_number;
    PlanSender m_sender;
    RankLaunches m_launches;
    RankLaunches m_launchesElsewhere;
    RankEnds m_ends;                     //!< counted where they are told
    OperationId m_gate{NO_OPERATION};    //!< that passes by PassGate
    std::vector<OperationId> m_done;     //!< operations done whose successors are not told yet
    std::unique_ptr<EndTeller> m_teller; //!< null: no process waits for ends in another
    RankShare* m_share;                  //!< null: this process simulates all ranks
    bool m_isMarkingDone{false};         //!< MarkDone is at work further up the stack
    bool m_hasEnded{false};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_EXECUTION_H
