// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/exchange-application.h"

#include "ns3/double.h"
#include "ns3/job-execution.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/time-range.h"
#include "ns3/trace-source-accessor.h"
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
                          "Transfers that this rank has under way at once; of those that wait the "
                          "one that comes first in the plan starts next. Set from the job; 0: no "
                          "limit.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&ExchangeApplication::m_maxOutstanding),
                          MakeUintegerChecker<uint32_t>())
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
ExchangeApplication::Attach(JobExecution* job,
                            uint32_t rank,
                            uint32_t endpoint,
                            const Ptr<Transport>& transport)
{
    m_job = job;
    m_rank = rank;
    m_endpoint = endpoint;
    m_transport = transport;
}

void
ExchangeApplication::Detach()
{
    m_job = nullptr;
    m_transport = nullptr;
}

uint32_t
ExchangeApplication::GetRank() const
{
    return m_rank;
}

bool
ExchangeApplication::IsStopped() const
{
    return m_phase == Phase::Stopped;
}

void
ExchangeApplication::Crash()
{
    if (m_phase == Phase::Stopped)
    {
        return;
    }
    m_exchangeEvent.Cancel();
    m_phase = Phase::Crashed;
    m_iterationPending = false;
    m_begun = false;
    m_isTraining = false;
    m_nextTraining.reset();
    ++m_life;
    AbandonPlan();
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
ExchangeApplication::AbandonPlan()
{
    DropDeferred();
    m_busyUntil.clear();
}

void
ExchangeApplication::DropDeferred()
{
    m_deferred.clear();
    m_held = {};
    m_outstanding = 0;
}

bool
ExchangeApplication::IsExchanging() const
{
    return m_phase == Phase::Exchanging;
}

void
ExchangeApplication::Defer(OperationId operation)
{
    m_deferred.push_back(operation);
}

void
ExchangeApplication::Hold(OperationId operation)
{
    m_held.push(operation);
}

std::optional<OperationId>
ExchangeApplication::OnSent()
{
    --m_outstanding;
    return TakeHeld();
}

std::optional<OperationId>
ExchangeApplication::TakeHeld()
{
    if (m_held.empty() || !MayIssue())
    {
        return std::nullopt;
    }
    const auto next = m_held.top();
    m_held.pop();
    return next;
}

void
ExchangeApplication::StartApplication()
{
    m_started = true;
    if (m_job != nullptr)
    {
        m_job->OnRankStarted();
    }
    if (m_iterationPending)
    {
        BeginCompute();
    }
}

void
ExchangeApplication::StopApplication()
{
    NS_LOG_FUNCTION(this << m_rank);
    m_phase = Phase::Stopped;
}

void
ExchangeApplication::BeginIteration()
{
    if (m_phase == Phase::Stopped || m_phase == Phase::Crashed)
    {
        return;
    }
    m_begun = true;
    // A server that the iteration before did not need may not have begun that one yet.
    m_exchangeEvent.Cancel();
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
    const bool isPlanned = m_job && m_job->TrainsInPlan();
    const auto time = isPlanned ? Time(0)
                      : m_job   ? m_job->StretchCompute(m_endpoint, m_computeTime)
                                : m_computeTime;
    m_exchangeEvent = Simulator::Schedule(time, &ExchangeApplication::BeginExchange, this);
}

void
ExchangeApplication::BeginExchange()
{
    if (m_job == nullptr || m_phase != Phase::Computing)
    {
        return;
    }
    m_phase = Phase::Exchanging;
    const auto deferred = std::move(m_deferred);
    m_deferred.clear();
    m_job->OnRankExchanging(m_rank, m_computedSince, deferred);
}

void
ExchangeApplication::Issue(uint64_t tag,
                           const Operation& operation,
                           uint64_t bytes,
                           ExchangeApplication& to)
{
    m_sendTrace(m_rank, static_cast<OperationId>(tag), bytes);
    m_transport->Send({m_endpoint, to.m_endpoint, operation.stream, bytes, tag, &to});
}

void
ExchangeApplication::Aggregate(OperationId id, AggregationMessage message)
{
    m_sendTrace(m_rank, id, message.bytes);
    message.tag = m_job->MakeTag(id);
    message.handler = this;
    m_transport->RequireAggregation().Aggregate(message);
}

void
ExchangeApplication::OnDelivered(uint64_t tag)
{
    if (m_job == nullptr || m_phase == Phase::Stopped || m_phase == Phase::Crashed)
    {
        return;
    }
    if (!m_job->IsCurrent(tag))
    {
        m_job->OnLateDone(tag);
        return;
    }
    const auto id = static_cast<OperationId>(tag);
    const auto bytes = m_job->OnTransferDelivered(id);
    m_receiveTrace(m_rank, id, bytes);
    if (!m_job->IsReduce(id) || !StartReduce(tag, bytes))
    {
        m_job->OnOperationDone(id);
    }
}

bool
ExchangeApplication::StartReduce(uint64_t tag, uint64_t bytes)
{
    if (m_reduceSecondsPerByte == 0 || bytes == 0)
    {
        return false;
    }
    StartCompute(tag, ToTime(static_cast<double>(bytes) * m_reduceSecondsPerByte));
    return true;
}

void
ExchangeApplication::StartCompute(uint64_t tag, const Time& duration, uint32_t processor)
{
    const auto now = Simulator::Now();
    auto& busyUntil = m_busyUntil[processor];
    busyUntil = AddTimes(std::max(busyUntil, now), duration);
    Simulator::Schedule(busyUntil - now,
                        &ExchangeApplication::FinishCompute,
                        Ptr<ExchangeApplication>(this),
                        tag,
                        m_life);
}

void
ExchangeApplication::StartTraining(uint64_t tag)
{
    if (m_isTraining)
    {
        if (m_nextTraining)
        {
            m_job->ForgetLate(*m_nextTraining);
        }
        m_nextTraining = tag;
        return;
    }
    m_isTraining = true;
    const auto now = Simulator::Now();
    auto& busyUntil = m_busyUntil[0];
    const auto since = std::max(busyUntil, now);
    busyUntil = AddTimes(since, m_job->StretchCompute(m_endpoint, m_computeTime));
    Simulator::Schedule(busyUntil - now,
                        &ExchangeApplication::FinishTraining,
                        Ptr<ExchangeApplication>(this),
                        tag,
                        m_life,
                        since);
}

void
ExchangeApplication::FinishTraining(uint64_t tag, uint32_t life, const Time& since)
{
    if (m_job == nullptr || m_phase == Phase::Stopped || life != m_life)
    {
        return;
    }
    m_isTraining = false;
    m_job->OnTrained(tag, m_rank, since);
    if (m_job != nullptr && m_nextTraining)
    {
        StartTraining(*std::exchange(m_nextTraining, std::nullopt));
    }
}

void
ExchangeApplication::FinishCompute(uint64_t tag, uint32_t life)
{
    if (m_job == nullptr || m_phase == Phase::Stopped || life != m_life)
    {
        return;
    }
    if (m_job->IsCurrent(tag))
    {
        m_job->OnOperationDone(static_cast<OperationId>(tag));
    }
    else
    {
        m_job->OnLateDone(tag);
    }
}

void
ExchangeApplication::OnFailed(uint64_t tag, const std::string& reason)
{
    if (m_job != nullptr && m_job->IsCurrent(tag))
    {
        m_job->OnTransferFailed(static_cast<OperationId>(tag), reason);
    }
}

void
ExchangeApplication::OnWrongSum(uint64_t tag, const std::string& reason)
{
    if (m_job != nullptr && m_job->IsCurrent(tag))
    {
        m_job->OnWrongSum(static_cast<OperationId>(tag), reason);
    }
}

} // namespace ns3::gradsync
