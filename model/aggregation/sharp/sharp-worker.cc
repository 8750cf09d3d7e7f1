// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/sharp-worker.h"

#include "ns3/sharp-header.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::gradsync
{

SharpWorker::SharpWorker(const AggregationJob& job,
                         const Settings& settings,
                         uint16_t rank,
                         uint32_t endpoint,
                         FabricPort& port)
    : AggregationWorker(job, rank, endpoint, port),
      m_settings(settings)
{
}

void
SharpWorker::SendFrom(uint64_t /* first */)
{
    while (!m_halted && m_next < GetPacketCount())
    {
        const auto oldest = m_underWay.empty() ? m_next : *m_underWay.begin();
        if (m_next - oldest >= m_settings.credits)
        {
            return;
        }
        if (m_underWay.empty())
        {
            m_progress = Simulator::Now();
            m_timeouts = 0;
        }
        m_underWay.insert(m_next);
        Send(m_next++);
        SetTimer(m_progress + GetPatience());
    }
}

/// A packet is as long as what is in it.
void
SharpWorker::Send(uint64_t number)
{
    auto* packet = MakePacket(number);
    packet->wireBytes = static_cast<uint16_t>(m_settings.headerBytes + packet->payloadBytes);
    m_job.contents->Get(*packet).As<SharpHeader>() = {.sequence = number,
                                                      .job = m_job.number,
                                                      .child = m_rank};
    Transmit(packet);
}

void
SharpWorker::OnResult(const AggregationPacket& packet, AggregationStatistics& statistics)
{
    const auto& header = packet.As<SharpHeader>();
    if (m_halted || m_underWay.erase(header.sequence) == 0)
    {
        return; // it came twice
    }
    m_progress = Simulator::Now();
    m_timeouts = 0;
    SendFrom(m_next);
    if (m_underWay.empty())
    {
        CancelTimer();
    }
    if (m_taken.Take(header.sequence)) // else it was sent once more, for the sake of others
    {
        Finish(header.sequence,
               {.values = packet.values, .hasOverflowed = header.hasOverflowed},
               statistics);
    }
}

/// Until it sends again; doubled with each time in a row.
Time
SharpWorker::GetPatience() const
{
    constexpr uint32_t MAX_DOUBLINGS = 6;
    return m_settings.timeout * (int64_t{1} << std::min(m_timeouts, MAX_DOUBLINGS));
}

void
SharpWorker::OnTimer()
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
        Fail(*m_underWay.begin(), "no result of SHARP");
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

void
SharpWorker::Restart(uint64_t first)
{
    m_underWay.clear();
    m_next = first;
    SendFrom(first);
}

/// Others may lack what it has, as many as it may have under way.
uint64_t
SharpWorker::GetFirstNeeded() const
{
    const auto missing = m_taken.GetFirstMissing();
    return missing - std::min<uint64_t>(missing, m_settings.credits);
}

void
SharpWorker::Halt()
{
    m_halted = true;
    m_underWay.clear();
    CancelTimer();
}

} // namespace ns3::gradsync
