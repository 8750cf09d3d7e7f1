// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/resending-worker.h"

#include "ns3/simulator.h"

namespace ns3::gradsync
{

ResendingWorker::ResendingWorker(const AggregationJob& job,
                                 const Time& timeout,
                                 uint16_t rank,
                                 uint32_t endpoint,
                                 FabricPort& port)
    : AggregationWorker(job, rank, endpoint, port),
      m_timeout(timeout)
{
}

void
ResendingWorker::Launch(uint64_t number)
{
    if (m_underWay.empty())
    {
        m_progress = Simulator::Now();
        m_timeouts = 0;
    }
    m_underWay.insert(number);
    Send(number);
    SetTimer(m_progress + GetPatience());
}

bool
ResendingWorker::TakeAnswer(uint64_t number)
{
    if (m_halted || m_underWay.erase(number) == 0)
    {
        return false;
    }
    m_progress = Simulator::Now();
    m_timeouts = 0;
    return true;
}

void
ResendingWorker::Settle()
{
    if (m_underWay.empty())
    {
        CancelTimer();
    }
}

void
ResendingWorker::ForgetUnderWay()
{
    m_underWay.clear();
}

void
ResendingWorker::Halt()
{
    m_halted = true;
    m_underWay.clear();
    CancelTimer();
}

/// Until it sends again.
Time
ResendingWorker::GetPatience() const
{
    return BackOff(m_timeout, m_timeouts);
}

void
ResendingWorker::OnTimer()
{
    if (m_halted || m_underWay.empty())
    {
        return;
    }
    const auto due = m_progress + GetPatience();
    if (Simulator::Now() < due)
    {
        SetTimer(due);
        return;
    }
    if (++m_timeouts > m_job.retryLimit)
    {
        Fail(*m_underWay.begin(), DescribeSilence());
        return;
    }
    m_progress = Simulator::Now();
    for (const auto number : m_underWay)
    {
        CountRetransmission(number);
        Send(number);
    }
    SetTimer(m_progress + GetPatience());
}

} // namespace ns3::gradsync
