// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-sender.h"

#include "ns3/exchange-application.h"
#include "ns3/execution-table.h"
#include "ns3/id-order.h"
#include "ns3/sending-turns.h"
#include "ns3/simulator.h"
#include "ns3/transfer-carrier.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ns3::gradsync
{

PlanSender::PlanSender(Parts parts)
    : m_plan(parts.plan),
      m_ranks(parts.ranks),
      m_ledger(parts.ledger),
      m_number(parts.number),
      m_aggregations(std::move(parts.aggregations)),
      m_firstStream(parts.firstStream),
      m_carrier(parts.carrier),
      m_share(parts.share),
      m_job(parts.job),
      m_turns(parts.turns),
      m_turn(parts.turn),
      m_timesNetwork(parts.timesNetwork && (m_plan.IsCompressed() || m_plan.GetGate().has_value()))
{
}

PlanSender::~PlanSender()
{
    if (m_turns && m_isScheduled)
    {
        m_turns->Remove(*this);
    }
}

void
PlanSender::Begin()
{
    m_begin = m_begin.value_or(Simulator::Now());
}

void
PlanSender::ScheduleSending()
{
    m_isScheduled = true;
    // After all deliveries of this instant, so that ascending ids hold among all of them.
    if (m_turns)
    {
        m_turns->Add(m_job, *this);
    }
    else if (m_turn)
    {
        m_event.ScheduleInOrder(EventOrder::OfSending(*m_turn),
                                Time(0),
                                &PlanSender::OnInstantOver,
                                this);
    }
    else
    {
        m_event.Schedule(Time(0), &PlanSender::OnInstantOver, this);
    }
}

void
PlanSender::OnInstantOver()
{
    m_isScheduled = false;
    if (m_share)
    {
        m_share->OnSharedEvent(m_job, m_number);
    }
    SendReady();
}

void
PlanSender::SendReady()
{
    m_sending.swap(m_ready);
    SortIds(m_sending, m_ledger.GetSize());
    TellCarrier();
    for (size_t first = 0; first < m_sending.size(); first += TOGETHER)
    {
        const auto count = std::min(TOGETHER, m_sending.size() - first);
        SendTogether(std::span(m_sending).subspan(first, count));
    }
    m_sending.clear();
    if (m_sending.capacity() > KEPT_OPERATIONS)
    {
        m_sending.shrink_to_fit(); // an exchange often begins with most of what it has
    }
}

/// What is looked for in the transport is fetched for all of them before the first one leaves.
void
PlanSender::SendTogether(std::span<const OperationId> ids)
{
    std::array<Operation, TOGETHER> operations;
    for (size_t i = 0; i < ids.size(); ++i)
    {
        const auto operation = operations[i] = m_plan.GetOperations()[ids[i]];
        if (ids.size() > 1)
        {
            m_ledger.Prefetch(ids[i]);
            m_ranks.Get(operation.src)
                .PrefetchIssue(m_firstStream + operation.stream, m_ranks.Get(operation.dst));
        }
    }
    for (size_t i = 0; i < ids.size() && !m_isHalted; ++i)
    {
        Send(ids[i], operations[i]);
    }
}

/// Tells who looks on that something leaves, unless something has before.
void
PlanSender::TellCarrier()
{
    if (!m_carrier || m_isHalted || m_sending.empty() || std::exchange(m_hasSent, true))
    {
        return;
    }
    m_carrier->Begin(m_begin == Simulator::Now() && m_ranks.HaveStarted());
}

void
PlanSender::Send(OperationId id, const Operation& operation)
{
    if (m_ranks.Get(operation.src).IsStopped())
    {
        return;
    }
    if (m_ledger.IsDone(id))
    {
        // Left out while it was kept: the next one may start in its place.
        SendHeld(operation.src);
        return;
    }
    // Ranks that wait for different aggregations of each other would wait for ever.
    if (!operation.IsAggregate() && !m_ranks.MaySend(operation.src))
    {
        m_ranks.Hold(operation.src, id);
        return;
    }
    m_ledger.MarkSent(id);
    m_ranks.CountSent(operation.src);
    BeginUnderWay();
    Hand(id, operation);
}

void
PlanSender::Hand(OperationId id, const Operation& operation)
{
    auto& application = m_ranks.Get(operation.src);
    const auto tag = ExecutionTable::MakeTag(m_number, id);
    if (operation.IsAggregate())
    {
        application.Aggregate(tag, m_aggregations.MakeMessage(m_plan, id));
        return;
    }
    application.Issue({tag,
                       m_firstStream + operation.stream,
                       m_plan.GetBytes(id, operation),
                       operation.kind == OperationKind::TransferReduce},
                      m_ranks.Get(operation.dst),
                      m_carrier);
}

void
PlanSender::EndTransfer(uint32_t rank)
{
    m_ranks.CountArrived(rank);
    EndUnderWay();
    SendHeld(rank);
}

void
PlanSender::EndTransferElsewhere(uint32_t rank)
{
    m_ranks.CountArrived(rank);
    SendHeld(rank);
}

/// A transfer that was held may start, if there is one.
void
PlanSender::SendHeld(uint32_t rank)
{
    const auto held = m_ranks.TakeHeld(rank);
    if (held && !m_ranks.Get(rank).IsHalted())
    {
        Add(*held);
    }
}

} // namespace ns3::gradsync
