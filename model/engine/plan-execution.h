// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_EXECUTION_H
#define GRADSYNC_PLAN_EXECUTION_H

#include "ns3/busy-clock.h"
#include "ns3/execution-table.h"
#include "ns3/operation-ledger.h"
#include "ns3/plan-aggregations.h"
#include "ns3/plan.h"
#include "ns3/rank-parts.h"
#include "ns3/scoped-event.h"

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

class ExchangeApplication;
class RankShare;
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
 * share it, every operation that a rank of this one executes or receives, and every worker of it.
 * Operations that become ready at one instant start in ascending id.
 */
class PlanExecution final : private OperationObserver
{
  public:
    /// Is told how it goes on. May start any execution from each of these calls.
    class Listener
    {
      public:
        /// Its own part is done. Only where Setup::tellsRanks asks for it.
        virtual void OnRankEnded(PlanExecution& /* execution */, uint32_t /* rank */)
        {
        }

        /// All is done. The last call; the execution may be destroyed in it.
        virtual void OnEnded(PlanExecution& execution) = 0;

        /// An operation is done that the gate counts. Only where Setup::hasGate asks for it.
        virtual void OnAnswer(PlanExecution& /* execution */)
        {
        }

        virtual void OnTransferDelivered(PlanExecution& /* execution */, OperationId /* id */)
        {
        }

        /// A rank has computed for an operation, or added what it received by it; it took time.
        virtual void OnWorked(PlanExecution& /* execution */, OperationId /* id */)
        {
        }

        /// \param rank of the job
        virtual void OnRankTrained(PlanExecution& /* execution */,
                                   uint32_t /* rank */,
                                   const Time& /* since */)
        {
        }

        /// The transport gave up a transfer.
        virtual void OnTransferFailed(PlanExecution& execution,
                                      OperationId id,
                                      const std::string& reason) = 0;
        /// The network gave a wrong sum.
        virtual void OnSumWrong(PlanExecution& execution,
                                OperationId id,
                                const std::string& reason) = 0;

      protected:
        ~Listener() = default;
    };

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
        bool hasGate{false}; //!< its gate passes by PassGate; else when all before it is done
        /// Of what this process simulates; it outlives the execution. Ranks that others simulate
        /// are not started here. nullptr: all.
        RankShare* share{nullptr};
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
    /// A rank does nothing more.
    void Withdraw(uint32_t rank);
    /// No transfer is started any more.
    void Halt();
    /// Sends at once what is ready, not when this instant is over.
    void SendReady();

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
        return *m_ranks[rank].application;
    }

    uint32_t GetRankCount() const
    {
        return static_cast<uint32_t>(m_ranks.size());
    }

    uint32_t GetFirstStream() const
    {
        return m_firstStream;
    }

    /// Of its messages, see ExecutionTable.
    uint32_t GetNumber() const
    {
        return m_number;
    }

    /// How long a rank is busy with an operation, beside its transfer.
    Time GetWorkTime(OperationId id) const;

    /// For how long a transfer was on its way. Of plans that are compressed or have a gate; else 0,
    /// as with a RankShare, which is told of each.
    Time GetNetworkTime() const
    {
        return m_networkClock.GetTime();
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
    static constexpr size_t KEPT_OPERATIONS = 4096; //!< most that memory is kept for

    struct Rank
    {
        ExchangeApplication* application;
        bool isStarted{false};
        uint32_t sending{0}; //!< transfers under way for which its limit counts
        /// Before it has started, what is ready. Afterwards a heap of the transfers that wait for
        /// one under way to be delivered, the lowest id on top.
        std::vector<OperationId> kept{};
    };

    void OnDelivered(OperationId id) override;
    void OnSentElsewhere(OperationId id, const Time& at) override;
    void OnDelayed(OperationId id) override;
    void OnComputed(OperationId id) override;
    void OnTrained(OperationId id, uint32_t rank, const Time& since) override;
    void OnSkipped(OperationId id) override;
    void OnFailed(OperationId id, const std::string& reason) override;
    void OnWrongSum(OperationId id, const std::string& reason) override;

    /// Ranks that are about to begin.
    struct Launch
    {
        std::vector<uint32_t> ranks{};
        ScopedEvent event{};
    };

    void LeaveToOthers();
    void OnLaunched();
    std::vector<uint32_t> EndLaunch();
    void Begin(std::span<const uint32_t> ranks);
    std::vector<OperationId> Admit(uint32_t rank);
    void OnInstantOver();
    void MakeReady(std::span<const OperationId> ids);
    void MakeReady(OperationId id);
    bool Compute(OperationId id, const Operation& operation);
    void BeginSending();
    void Send(OperationId id);
    void Hand(OperationId id, const Operation& operation);
    void Deliver(OperationId id, const Operation& operation);
    void Finish(OperationId id);
    void MarkDone(OperationId id);
    void ReleaseSuccessors(OperationId id);
    void FinishPart(uint32_t rank);
    void TellRanks();
    void LeaveOut(OperationId id);
    void BeginUnderWay();
    void EndUnderWay();
    void CountSent(uint32_t rank);
    void CountArrived(uint32_t rank);
    void SendHeld(uint32_t rank);
    bool MaySend(const Rank& rank) const;
    uint64_t MakeTag(OperationId id) const;

    ExecutionTable& m_executions;
    Listener& m_listener;
    std::shared_ptr<const Plan> m_plan;
    AggregationTurn m_aggregations;
    uint32_t m_firstStream;
    TransferCarrier* m_carrier;
    std::vector<Rank> m_ranks;
    OperationLedger m_ledger;
    uint32_t m_number;
    RankShare* m_share;
    uint32_t m_workers; //!< that are simulated here
    uint32_t m_workersStarted{0};
    std::optional<Time> m_begin;        //!< of the first rank
    OperationId m_gate{NO_OPERATION};   //!< that passes by PassGate
    RankParts m_parts;                  //!< counted where the ends of ranks are told
    std::vector<uint32_t> m_endedRanks; //!< not told yet
    std::vector<OperationId> m_ready;
    std::vector<OperationId> m_sending; //!< m_ready of the instant in hand; kept for its memory
    std::vector<OperationId> m_done;    //!< operations done whose successors are not told yet
    std::list<Launch> m_launches;       //!< in the order in which they are over
    ScopedEvent m_sendEvent;
    BusyClock m_networkClock;
    bool m_timesNetwork;
    bool m_isSendScheduled{false}; //!< OnInstantOver is called before this instant is over
    bool m_isMarkingDone{false};   //!< MarkDone is at work further up the stack
    bool m_isTelling{false};       //!< TellRanks is
    bool m_isHalted{false};
    bool m_hasSent{false};
    bool m_hasEnded{false};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_EXECUTION_H
