// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/exchange-application.h"

#include "ns3/differential-transmission.h"
#include "ns3/double.h"
#include "ns3/event-order.h"
#include "ns3/host-slowdowns.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/transfer-carrier.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncExchangeApplication");
NS_OBJECT_ENSURE_REGISTERED(ExchangeApplication);

TypeId
ExchangeApplication::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::ExchangeApplication")
            .SetParent<Application>()
            .SetGroupName("GradSync")
            .AddConstructor<ExchangeApplication>()
            .AddAttribute("Rank",
                          "Rank in its job.",
                          TypeId::ATTR_GET,
                          UintegerValue(0),
                          MakeUintegerAccessor(&ExchangeApplication::GetRank),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "ComputeTime",
                "Forward and backward pass of this rank before its exchange starts, from the "
                "next iteration on. Set from the job; 0 for dedicated servers.",
                TimeValue(Time(0)),
                MakeTimeAccessor(&ExchangeApplication::m_computeTime),
                MakeTimeChecker(Time(0)))
            .AddAttribute("ReduceSecondsPerByte",
                          "Time to add one received byte, in seconds; one reduction at a time. Set "
                          "from the job; 0: free.",
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&ExchangeApplication::m_reduceSecondsPerByte),
                          MakeDoubleChecker<double>(0.0))
            .AddAttribute("MaxOutstandingSends",
                          "Transfers of an execution that this rank has under way at once; of "
                          "those that wait the "
                          "one that comes first in the plan starts next. Set from the job; 0: no "
                          "limit.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&ExchangeApplication::m_maxOutstanding),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("ReliableShare",
                          "DGT: of the blocks of what others add, sent reliably; the network may "
                          "lose the others. Set from the job; 1: all.",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&ExchangeApplication::m_reliableShare),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("BlockBytes",
                          "Of these blocks. Set from the job.",
                          UintegerValue(DifferentialTransmission::BLOCK_BYTES),
                          MakeUintegerAccessor(&ExchangeApplication::m_blockBytes),
                          MakeUintegerChecker<uint64_t>(1))
            .AddTraceSource("Send",
                            "A transfer of this rank is handed to the transport.",
                            MakeTraceSourceAccessor(&ExchangeApplication::m_sendTrace),
                            "ns3::gradsync::ExchangeApplication::TransferCallback")
            .AddTraceSource("Receive",
                            "A transfer to this rank is delivered; its reduction comes after.",
                            MakeTraceSourceAccessor(&ExchangeApplication::m_receiveTrace),
                            "ns3::gradsync::ExchangeApplication::TransferCallback");
    return tid;
}

ExchangeApplication::ExchangeApplication() = default;
ExchangeApplication::~ExchangeApplication() = default;

void
ExchangeApplication::DoDispose()
{
    Detach();
    Application::DoDispose();
}

void
ExchangeApplication::Attach(const Place& place, RankOwner* owner)
{
    m_place = place;
    m_owner = owner;
}

void
ExchangeApplication::Detach()
{
    m_owner = nullptr;
    m_place.transport = nullptr;
    m_place.executions = nullptr;
    m_place.slowdowns = nullptr;
}

uint32_t
ExchangeApplication::GetRank() const
{
    return m_place.rank;
}

bool
ExchangeApplication::IsStopped() const
{
    return m_phase == Phase::Stopped;
}

bool
ExchangeApplication::IsHalted() const
{
    return m_phase == Phase::Stopped || m_phase == Phase::Crashed;
}

void
ExchangeApplication::Crash()
{
    if (m_phase == Phase::Stopped)
    {
        return;
    }
    CancelExchange();
    m_phase = Phase::Crashed;
    m_iterationPending = false;
    m_begun = false;
    m_isTraining = false;
    m_nextTraining.reset();
    ++m_life;
    DropWork();
}

void
ExchangeApplication::Restart()
{
    if (m_phase == Phase::Crashed)
    {
        m_phase = Phase::Waiting;
    }
}

bool
ExchangeApplication::IsCrashed() const
{
    return m_phase == Phase::Crashed;
}

bool
ExchangeApplication::HasBegun() const
{
    return m_begun;
}

void
ExchangeApplication::DropWork()
{
    m_busyUntil.clear();
}

bool
ExchangeApplication::IsExchanging() const
{
    return m_phase == Phase::Exchanging;
}

Time
ExchangeApplication::Stretch(const Time& duration) const
{
    return m_place.slowdowns ? m_place.slowdowns->Stretch(m_place.endpoint, duration) : duration;
}

OperationObserver*
ExchangeApplication::FindObserver(uint64_t tag) const
{
    return m_place.executions ? m_place.executions->Find(tag) : nullptr;
}

void
ExchangeApplication::StartApplication()
{
    m_started = true;
    if (m_owner != nullptr)
    {
        m_owner->OnRankStarted();
    }
    if (m_iterationPending)
    {
        BeginCompute();
    }
}

void
ExchangeApplication::StopApplication()
{
    NS_LOG_FUNCTION(this << m_place.rank);
    m_phase = Phase::Stopped;
}

void
ExchangeApplication::BeginIteration()
{
    if (IsHalted())
    {
        return;
    }
    m_begun = true;
    // A server that the iteration before did not need may not have begun that one yet.
    CancelExchange();
    m_phase = Phase::Waiting;
    m_iterationPending = true;
    if (m_started)
    {
        BeginCompute();
    }
}

void
ExchangeApplication::BeginCompute()
{
    m_iterationPending = false;
    m_phase = Phase::Computing;
    m_computedSince = Simulator::Now();
    // An event even when the time is 0: all ranks then begin before the first operation starts.
    const bool isPlanned = m_owner && !m_owner->ComputesFirst();
    const auto time = isPlanned ? Time(0) : Stretch(m_computeTime);
    m_exchangeEvent = ScheduleInOrder(GetOrder(), time, &ExchangeApplication::BeginExchange, this);
}

void
ExchangeApplication::CancelExchange()
{
    if (m_exchangeEvent)
    {
        m_exchangeEvent->Cancel();
    }
}

/// Among simultaneous events: its own are in the order in which it came to them. An application
/// that is on no node has no place among those of others.
uint32_t
ExchangeApplication::GetOrder() const
{
    return m_node ? EventOrder::OfNode(m_node->GetId()) : Simulator::NO_CONTEXT;
}

void
ExchangeApplication::AddState(StateWords& words) const
{
    if (m_iterationPending || m_isTraining || IsHalted() || !m_started)
    {
        words.Refuse("ranks are stopped, or have not begun");
    }
    for (const auto& [processor, busyUntil] : m_busyUntil)
    {
        words.Add(processor);
        words.AddDeadline(busyUntil.GetTimeStep());
    }
    words.EndList();
}

void
ExchangeApplication::BeginExchange()
{
    if (m_owner == nullptr || m_phase != Phase::Computing)
    {
        return;
    }
    m_phase = Phase::Exchanging;
    m_owner->OnRankExchanging(m_place.rank, m_computedSince);
}

ByteRange
ExchangeApplication::FindDroppable(uint64_t bytes) const
{
    return DifferentialTransmission{m_reliableShare, m_blockBytes}.FindDroppable(bytes);
}

void
ExchangeApplication::Issue(const Transfer& transfer,
                           ExchangeApplication& to,
                           TransferCarrier* carrier)
{
    m_sendTrace(m_place.rank, static_cast<OperationId>(transfer.tag), transfer.bytes);
    const Message message{m_place.endpoint,
                          to.m_place.endpoint,
                          transfer.stream,
                          transfer.bytes,
                          transfer.tag,
                          &to,
                          transfer.isAdded ? FindDroppable(transfer.bytes) : ByteRange{}};
    if (!carrier || !carrier->Take(message))
    {
        m_place.transport->Send(message);
    }
}

void
ExchangeApplication::PrefetchIssue(uint32_t stream, const ExchangeApplication& to) const
{
    if (m_place.transport)
    {
        m_place.transport->PrefetchSend(m_place.endpoint, to.m_place.endpoint, stream);
    }
}

void
ExchangeApplication::Aggregate(uint64_t tag, AggregationMessage message)
{
    m_sendTrace(m_place.rank, static_cast<OperationId>(tag), message.bytes);
    message.tag = tag;
    message.handler = this;
    m_place.transport->RequireAggregation().Aggregate(message);
}

void
ExchangeApplication::TraceReceive(OperationId id, uint64_t bytes)
{
    m_receiveTrace(m_place.rank, id, bytes);
}

void
ExchangeApplication::OnDelivered(uint64_t tag)
{
    if (IsHalted())
    {
        return;
    }
    if (auto* observer = FindObserver(tag))
    {
        observer->OnDelivered(static_cast<OperationId>(tag));
    }
}

void
ExchangeApplication::OnSentElsewhere(uint64_t tag, const Time& at)
{
    if (auto* observer = FindObserver(tag))
    {
        observer->OnSentElsewhere(static_cast<OperationId>(tag), at);
    }
}

void
ExchangeApplication::OnArriving(uint64_t tag, const Time& at, uint32_t order)
{
    if (auto* observer = FindObserver(tag))
    {
        observer->OnArriving(static_cast<OperationId>(tag), at, order);
    }
}

void
ExchangeApplication::OnTold(uint64_t tag, OperationNews news)
{
    if (auto* observer = FindObserver(tag))
    {
        observer->OnTold(static_cast<OperationId>(tag), news);
    }
}

void
ExchangeApplication::OnFailed(uint64_t tag, const std::string& reason)
{
    if (auto* observer = FindObserver(tag))
    {
        observer->OnFailed(static_cast<OperationId>(tag), reason);
    }
}

void
ExchangeApplication::OnWrongSum(uint64_t tag, const std::string& reason)
{
    if (auto* observer = FindObserver(tag))
    {
        observer->OnWrongSum(static_cast<OperationId>(tag), reason);
    }
}

} // namespace ns3::gradsync
