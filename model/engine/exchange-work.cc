// SPDX-License-Identifier: GPL-2.0-only
// The part of ExchangeApplication that computes, adds and waits.
#include "ns3/event-order.h"
#include "ns3/exchange-application.h"
#include "ns3/simulator.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

bool
ExchangeApplication::StartReduce(uint64_t tag, uint64_t bytes)
{
    if (m_reduceSecondsPerByte == 0 || bytes == 0)
    {
        return false;
    }
    StartCompute(tag, GetReduceTime(bytes));
    return true;
}

Time
ExchangeApplication::GetReduceTime(uint64_t bytes) const
{
    return GetReduceTime(bytes, m_reduceSecondsPerByte);
}

Time
ExchangeApplication::GetReduceTime(uint64_t bytes, double secondsPerByte)
{
    return ToTime(static_cast<double>(bytes) * secondsPerByte);
}

void
ExchangeApplication::StartCompute(uint64_t tag, const Time& duration, uint32_t processor)
{
    const auto now = Simulator::Now();
    auto& busyUntil = m_busyUntil[processor];
    busyUntil = AddTimes(std::max(busyUntil, now), duration);
    ScheduleInOrder(GetOrder(),
                    busyUntil - now,
                    &ExchangeApplication::FinishCompute,
                    Ptr<ExchangeApplication>(this),
                    tag,
                    m_life);
}

void
ExchangeApplication::StartTask(uint64_t tag, const Time& duration, uint32_t processor)
{
    StartCompute(tag, Stretch(duration), processor);
}

void
ExchangeApplication::StartTraining(uint64_t tag)
{
    if (m_isTraining)
    {
        const auto skipped = std::exchange(m_nextTraining, tag);
        auto* observer = skipped ? FindObserver(*skipped) : nullptr;
        if (observer != nullptr)
        {
            observer->OnSkipped(static_cast<OperationId>(*skipped));
        }
        return;
    }
    m_isTraining = true;
    const auto now = Simulator::Now();
    auto& busyUntil = m_busyUntil[0];
    const auto since = std::max(busyUntil, now);
    busyUntil = AddTimes(since, Stretch(m_computeTime));
    ScheduleInOrder(GetOrder(),
                    busyUntil - now,
                    &ExchangeApplication::FinishTraining,
                    Ptr<ExchangeApplication>(this),
                    tag,
                    m_life,
                    since);
}

void
ExchangeApplication::FinishTraining(uint64_t tag, uint32_t life, const Time& since)
{
    if (m_place.executions == nullptr || m_phase == Phase::Stopped || life != m_life)
    {
        return;
    }
    m_isTraining = false;
    if (auto* observer = FindObserver(tag))
    {
        observer->OnTrained(static_cast<OperationId>(tag), m_place.rank, since);
    }
    if (m_nextTraining)
    {
        StartTraining(*std::exchange(m_nextTraining, std::nullopt));
    }
}

void
ExchangeApplication::FinishCompute(uint64_t tag, uint32_t life)
{
    if (m_phase == Phase::Stopped || life != m_life)
    {
        return;
    }
    if (auto* observer = FindObserver(tag))
    {
        observer->OnComputed(static_cast<OperationId>(tag));
    }
}

void
ExchangeApplication::Delay(uint64_t tag, const Time& latency)
{
    ScheduleInOrder(GetOrder(),
                    latency,
                    &ExchangeApplication::FinishDelay,
                    Ptr<ExchangeApplication>(this),
                    tag,
                    m_life);
}

void
ExchangeApplication::FinishDelay(uint64_t tag, uint32_t life)
{
    if (IsHalted() || life != m_life)
    {
        return;
    }
    if (auto* observer = FindObserver(tag))
    {
        observer->OnDelayed(static_cast<OperationId>(tag));
    }
}

} // namespace ns3::gradsync
