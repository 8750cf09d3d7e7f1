// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-worker.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Timeouts in a row after which the timer is not doubled any more.
constexpr uint32_t MAX_DOUBLINGS = 6;

} // namespace

SlotWorker::SlotWorker(const AggregationJob& job,
                       const Settings& settings,
                       uint16_t rank,
                       uint32_t endpoint,
                       FabricPort& port)
    : AggregationWorker(job, rank, endpoint, port),
      m_settings(settings),
      m_slots(settings.slots)
{
    for (uint32_t slot = 0; slot < m_slots.size(); ++slot)
    {
        m_slots[slot].packet = slot;
    }
}

SlotWorker::~SlotWorker()
{
    // Not EventId::Cancel, which makes a new simulator when the old one is destroyed already.
    if (auto* event = m_timer.PeekEventImpl())
    {
        event->Cancel();
    }
}

void
SlotWorker::SendFrom(uint64_t first)
{
    const auto count = std::min<uint64_t>(GetPacketCount() - first, m_slots.size());
    for (uint64_t packet = first; packet < first + count; ++packet)
    {
        const auto slot = static_cast<uint32_t>(packet % m_slots.size());
        if (!m_slots[slot].isBusy)
        {
            SendNext(slot);
        }
    }
}

/// Sends the packet that a free slot is to send next, if it is there.
void
SlotWorker::SendNext(uint32_t slot)
{
    if (m_slots[slot].packet < GetPacketCount())
    {
        m_slots[slot].isBusy = true;
        m_slots[slot].timeouts = 0;
        ++m_busySlots;
        Send(slot);
    }
}

void
SlotWorker::Send(uint32_t slot)
{
    auto& state = m_slots[slot];
    auto* packet = MakePacket(state.packet);
    auto& content = m_job.contents->Get(*packet);
    content.protocol = ProgramProtocol::Slots;
    content.header = {.messageType = static_cast<uint8_t>(SlotMessage::Contribution),
                      .job = m_job.number,
                      .worker = m_rank,
                      .count = m_job.valueCount,
                      .slot = static_cast<uint16_t>(slot),
                      .epoch = static_cast<uint16_t>(state.packet / m_slots.size()),
                      .offset = static_cast<uint32_t>(GetPlace(state.packet) * m_job.valueCount)};
    state.due = Simulator::Now() +
                m_settings.timeout * (int64_t{1} << std::min(state.timeouts, MAX_DOUBLINGS));
    SetTimer(state.due);
    Transmit(packet);
}

void
SlotWorker::OnResult(const SlotPacket& packet, AggregationStatistics& statistics)
{
    const auto number = packet.header.slot;
    if (number >= m_slots.size())
    {
        return;
    }
    auto& slot = m_slots[number];
    if (!slot.isBusy || packet.header.epoch != static_cast<uint16_t>(slot.packet / m_slots.size()))
    {
        return; // it came twice
    }
    const auto done = slot.packet;
    const bool isNew = !std::exchange(slot.hadResult, false);
    slot.isBusy = false;
    slot.packet += m_slots.size();
    --m_busySlots;
    SendNext(number);
    if (m_busySlots == 0)
    {
        CancelTimer();
    }
    if (isNew)
    {
        Finish(done, packet, (packet.header.flags & SlotFlag::OVERFLOWED) != 0, statistics);
    }
}

/// The timer may come too early: it looks at all slots then.
void
SlotWorker::SetTimer(const Time& due)
{
    if (due < m_timerDue)
    {
        CancelTimer();
        m_timerDue = due;
        m_timer = Simulator::Schedule(due - Simulator::Now(), &SlotWorker::OnTimer, this);
    }
}

void
SlotWorker::CancelTimer()
{
    m_timer.Cancel();
    m_timerDue = Time::Max();
}

void
SlotWorker::OnTimer()
{
    const auto now = Simulator::Now();
    m_timerDue = Time::Max();
    const bool isWaiting = IsWaiting(); // before any of these is sent again
    for (uint32_t slot = 0; slot < m_slots.size(); ++slot)
    {
        auto& state = m_slots[slot];
        if (!state.isBusy || state.due > now)
        {
            continue;
        }
        if (isWaiting)
        {
            state.due = now + m_settings.timeout; // it may not have left yet
        }
        else if (!OnTimeout(slot))
        {
            return;
        }
    }
    Time due = Time::Max();
    for (const auto& slot : m_slots)
    {
        due = slot.isBusy ? std::min(due, slot.due) : due;
    }
    SetTimer(due);
}

/// False when it gave up.
bool
SlotWorker::OnTimeout(uint32_t slot)
{
    auto& state = m_slots[slot];
    if (++state.timeouts > m_job.retryLimit)
    {
        Fail(state.packet,
             fmt::format("no sum from the switches for slot {} of worker {} after {} timeouts in a "
                         "row",
                         slot,
                         m_rank,
                         m_job.retryLimit));
        return false;
    }
    CountRetransmission(state.packet);
    Send(slot);
    return true;
}

void
SlotWorker::Restart(const std::vector<uint64_t>& first)
{
    CancelTimer();
    m_busySlots = 0;
    for (uint32_t slot = 0; slot < m_slots.size(); ++slot)
    {
        auto& state = m_slots[slot];
        state.hadResult = state.hadResult || first[slot] < state.packet;
        state.packet = first[slot];
        state.isBusy = false;
        SendNext(slot);
    }
}

void
SlotWorker::Halt()
{
    m_halted = true;
    CancelTimer();
    m_busySlots = 0;
    for (auto& slot : m_slots)
    {
        slot.isBusy = false;
        slot.packet = UINT64_MAX;
    }
}

} // namespace ns3::gradsync
