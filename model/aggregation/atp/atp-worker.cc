// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/atp-worker.h"

#include "ns3/atp-header.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace ns3::gradsync
{

AtpWorker::AtpWorker(const AggregationJob& job,
                     const Settings& settings,
                     uint16_t rank,
                     uint32_t endpoint,
                     FabricPort& port)
    : AggregationWorker(job, rank, endpoint, port),
      m_settings(settings),
      m_next(job.firstPacket),
      m_window(settings.maxWindow)
{
}

void
AtpWorker::SendFrom(uint64_t /* first */)
{
    while (!m_halted && m_next < GetPacketCount())
    {
        const auto base = m_outstanding.empty() ? m_next : m_outstanding.begin()->first;
        if (static_cast<double>(m_next - base) >= m_window)
        {
            return;
        }
        Send(m_next++, false);
    }
}

void
AtpWorker::Send(uint64_t number, bool isResend)
{
    auto& outstanding = m_outstanding[number];
    outstanding.due =
        Simulator::Now() + (isResend ? GetTimeout(outstanding.timeouts) : m_settings.firstTimeout);
    SetTimer(outstanding.due);
    auto* packet = MakePacket(number);
    packet->destination = m_settings.server;
    packet->flags |= PacketFlag::ECN_CAPABLE;
    auto& content = m_job.contents->Get(*packet);
    auto& header = content.As<AtpHeader>();
    header = {.bitmap = 1U << m_rank,
              .sequence = number,
              .job = m_job.number,
              .isResend = isResend};
    if (outstanding.isFloat)
    {
        header.isFloat = true;
        m_job.floats->FillFloats(m_rank, number, content.values);
    }
    else if (m_job.floats)
    {
        header.hasOverflowed = m_job.floats->IsBeyondRange(m_rank, number);
    }
    Transmit(packet);
}

/// ATP's timeout stays as it is; ours grows when it does not help, so that waiting for a worker
/// that is late does not flood the network.
Time
AtpWorker::GetTimeout(uint32_t timeouts) const
{
    constexpr uint32_t PATIENCE = 10;
    return BackOff(m_settings.timeout, timeouts < PATIENCE ? 0 : timeouts - PATIENCE);
}

void
AtpWorker::OnResult(const AggregationPacket& packet, AggregationStatistics& statistics)
{
    const auto& header = packet.As<AtpHeader>();
    const auto found = m_outstanding.find(header.sequence);
    if (found == m_outstanding.end())
    {
        return; // it came twice
    }
    const auto number = found->first;
    if (m_job.floats && header.hasOverflowed && !header.isFloat)
    {
        OnOverflow(number, found->second, statistics);
        return;
    }
    m_outstanding.erase(found);
    if (header.isCongested && number >= m_reactFrom)
    {
        OnCongestion();
    }
    else if (!header.isCongested)
    {
        m_window = std::min<double>(m_window + 1.0 / m_window, m_settings.maxWindow);
    }
    SendFrom(m_next);
    Finish(
        number,
        {.values = packet.values, .hasOverflowed = header.hasOverflowed, .isFloat = header.isFloat},
        statistics);
}

/// The integers cannot hold it: the gradient goes to the server as it is.
void
AtpWorker::OnOverflow(uint64_t number, Outstanding& packet, AggregationStatistics& statistics)
{
    if (!packet.isFloat) // the first to say so
    {
        packet.isFloat = true;
        packet.timeouts = 0;
        ++statistics.floatPackets;
        Send(number, true);
    }
}

/// At most once a window.
void
AtpWorker::OnCongestion()
{
    m_window = std::max(m_window / 2.0, 1.0);
    m_reactFrom = m_next;
}

void
AtpWorker::OnTimer()
{
    const auto now = Simulator::Now();
    std::vector<uint64_t> late;
    for (auto& [number, outstanding] : m_outstanding)
    {
        if (outstanding.due <= now)
        {
            late.push_back(number);
        }
    }
    const bool isWaiting = IsWaiting(); // it may not have left yet
    for (const auto number : late)
    {
        auto& outstanding = m_outstanding[number];
        if (isWaiting)
        {
            outstanding.due = now + m_settings.timeout;
            continue;
        }
        if (++outstanding.timeouts > m_job.retryLimit)
        {
            Fail(number,
                 fmt::format("no sum for packet {} of worker {} after {} timeouts in a row",
                             number,
                             m_rank,
                             m_job.retryLimit));
            return;
        }
        CountRetransmission(number);
        Send(number, true);
    }
    for (const auto& [number, outstanding] : m_outstanding)
    {
        SetTimer(outstanding.due);
    }
}

void
AtpWorker::Halt()
{
    CancelTimer();
    m_outstanding.clear();
    m_halted = true;
}

} // namespace ns3::gradsync
