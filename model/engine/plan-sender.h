// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_SENDER_H
#define GRADSYNC_PLAN_SENDER_H

#include "ns3/busy-clock.h"
#include "ns3/operation-ledger.h"
#include "ns3/plan-aggregations.h"
#include "ns3/plan-ranks.h"
#include "ns3/plan.h"
#include "ns3/rank-share.h"
#include "ns3/scoped-event.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ns3::gradsync
{

class SendingTurns;
class TransferCarrier;

/// Sends the transfers of one execution of a plan, and gives its aggregations to the network: those
/// that become ready at one instant in ascending id, as far as their ranks may have them under way.
class PlanSender
{
  public:
    /// What it sends by. All outlive it.
    struct Parts
    {
        const Plan& plan;
        PlanRanks& ranks;
        OperationLedger& ledger;
        const uint32_t& number; //!< of the execution, see ExecutionTable; it may change
        AggregationTurn aggregations;
        uint32_t firstStream;         //!< added to the streams of the plan
        TransferCarrier* carrier;     //!< nullptr: there is none
        RankShare* share;             //!< nullptr: this process simulates all ranks
        uint32_t job;                 //!< with a share: index of the job
        SendingTurns* turns;          //!< nullptr: no other job sends
        std::optional<uint32_t> turn; //!< see PlanExecution::Setup
        bool timesNetwork;            //!< likewise
    };

    explicit PlanSender(Parts parts);
    ~PlanSender();
    PlanSender(const PlanSender&) = delete;
    PlanSender& operator=(const PlanSender&) = delete;

    /// The first of the ranks begins now.
    void Begin();

    /// A transfer or an aggregation is ready: it leaves when this instant is over.
    void Add(OperationId id)
    {
        m_ready.push_back(id);
        if (!m_isScheduled)
        {
            ScheduleSending();
        }
    }

    /// This instant is over.
    void OnInstantOver();

    /// Sends at once what is ready.
    void SendReady();

    /// Nothing is sent any more.
    void Halt()
    {
        m_isHalted = true;
    }

    /// A transfer of the rank is delivered, or not waited for any more: another one may start.
    void EndTransfer(uint32_t rank);

    /// Likewise at a rank of another process, where it is no more under way.
    void EndTransferElsewhere(uint32_t rank);

    uint32_t GetFirstStream() const
    {
        return m_firstStream;
    }

    TransferCarrier* GetCarrier() const
    {
        return m_carrier;
    }

    /// For the time for which anything is on its way: one thing more is, a transfer or a launch.
    /// Among several processes only all together know it.
    void BeginUnderWay()
    {
        if (m_timesNetwork && m_share)
        {
            m_share->OnUnderWay(m_job, 1);
        }
        else if (m_timesNetwork)
        {
            m_clock.Begin();
        }
    }

    /// Likewise, one less.
    void EndUnderWay()
    {
        if (m_timesNetwork && m_share)
        {
            m_share->OnUnderWay(m_job, -1);
        }
        else if (m_timesNetwork)
        {
            m_clock.End();
        }
    }

    /// For how long anything was on its way. Where that is asked for, of plans that are compressed
    /// or have a gate; else 0, as with a RankShare, which is told of each.
    Time GetNetworkTime() const
    {
        return m_clock.GetTime();
    }

  private:
    static constexpr size_t TOGETHER = 16;          //!< for which the transport fetches at once
    static constexpr size_t KEPT_OPERATIONS = 4096; //!< most that memory is kept for

    void ScheduleSending();
    void TellCarrier();
    void SendTogether(std::span<const OperationId> ids);
    void Send(OperationId id, const Operation& operation);
    void Hand(OperationId id, const Operation& operation);
    void SendHeld(uint32_t rank);

    const Plan& m_plan;
    PlanRanks& m_ranks;
    OperationLedger& m_ledger;
    const uint32_t& m_number;
    AggregationTurn m_aggregations;
    uint32_t m_firstStream;
    TransferCarrier* m_carrier;
    RankShare* m_share;
    uint32_t m_job;
    SendingTurns* m_turns;
    std::optional<uint32_t> m_turn;
    std::optional<Time> m_begin; //!< of the first rank
    std::vector<OperationId> m_ready;
    std::vector<OperationId> m_sending; //!< m_ready of the instant in hand; kept for its memory
    ScopedEvent m_event;
    BusyClock m_clock;
    bool m_timesNetwork;
    bool m_isScheduled{false}; //!< OnInstantOver is called before this instant is over
    bool m_isHalted{false};
    bool m_hasSent{false};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_SENDER_H
