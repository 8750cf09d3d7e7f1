// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-worker.h"

#include "ns3/simulator.h"
#include "ns3/slot-header.h"

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
        m_slots[slot].packet = m_slots[slot].previous = slot;
    }
}

void
SlotWorker::SendFrom(uint64_t first)
{
    const auto count = std::min<uint64_t>(GetPacketCount() - first, m_slots.size());
    for (uint64_t packet = first; packet < first + count; ++packet)
    {
        SendIfIdle(packet);
    }
}

/// Sends what the slot of a packet that was not ready is at.
void
SlotWorker::SendIfIdle(uint64_t packet)
{
    const auto slot = static_cast<uint32_t>(packet % m_slots.size());
    if (!m_slots[slot].isBusy)
    {
        SendNext(slot);
    }
}

/// Whether values may be scaled: the exponent of their packet is that of all workers.
bool
SlotWorker::KnowsExponent(uint64_t packet)
{
    const auto source = FindExponent(packet);
    return !source || Has(*source);
}

/// Sends the packet that a free slot is to send next, if it is there.
void
SlotWorker::SendNext(uint32_t slot)
{
    if (m_slots[slot].packet < GetPacketCount() && KnowsExponent(m_slots[slot].packet))
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
    content.As<SlotHeader>() = {.messageType = static_cast<uint8_t>(SlotMessage::Contribution),
                                .job = m_job.number,
                                .worker = m_rank,
                                .count = m_job.valueCount,
                                .slot = static_cast<uint16_t>(slot),
                                .epoch = state.epoch,
                                .offset = static_cast<uint32_t>(GetFirstValue(state.packet)),
                                .exponentA = GetExponent(state.packet)};
    state.due = Simulator::Now() +
                m_settings.timeout * (int64_t{1} << std::min(state.timeouts, MAX_DOUBLINGS));
    SetTimer(state.due);
    Transmit(packet);
}

void
SlotWorker::OnResult(const AggregationPacket& packet, AggregationStatistics& statistics)
{
    const auto& header = packet.As<SlotHeader>();
    const auto number = header.slot;
    if (number >= m_slots.size())
    {
        return;
    }
    auto& slot = m_slots[number];
    if (!slot.isBusy || header.epoch != slot.epoch)
    {
        return; // it came twice
    }
    const auto done = slot.packet;
    const auto follower = FindFollower(done);
    const bool isNew = m_had.erase(done) == 0;
    slot.isBusy = false;
    slot.previous = done;
    slot.packet = SkipDone(done + m_slots.size());
    ++slot.epoch;
    --m_busySlots;
    SendNext(number);
    if (follower)
    {
        SendIfIdle(*follower);
    }
    if (m_busySlots == 0)
    {
        CancelTimer();
    }
    if (isNew)
    {
        Finish(done,
               {.values = packet.values,
                .hasOverflowed = (header.flags & SlotFlag::OVERFLOWED) != 0,
                .exponent = header.exponentA},
               statistics);
    }
}

void
SlotWorker::OnTimer()
{
    const auto now = Simulator::Now();
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

/// The first that is to be sent of this packet and those after it in its slot.
uint64_t
SlotWorker::SkipDone(uint64_t packet) const
{
    while (m_settings.done.contains(packet))
    {
        packet += m_slots.size();
    }
    return packet;
}

uint64_t
SlotWorker::GetFirstMissing() const
{
    return m_slots.empty() ? 0 : std::ranges::min(m_slots, {}, &Slot::packet).packet;
}

uint64_t
SlotWorker::GetEnd() const
{
    const auto after = [](const std::set<uint64_t>& packets) {
        return packets.empty() ? 0 : *packets.rbegin() + 1;
    };
    const auto begun = m_slots.empty() ? 0 : std::ranges::max(m_slots, {}, &Slot::packet).packet;
    return std::max({begun, after(m_settings.done), after(m_had)});
}

bool
SlotWorker::Has(uint64_t packet) const
{
    return packet < m_slots[packet % m_slots.size()].packet || m_had.contains(packet) ||
           m_settings.done.contains(packet);
}

/// Another worker may lack the packet before the one that a slot is at, but none before that.
uint64_t
SlotWorker::GetFirstNeeded() const
{
    return m_slots.empty() ? 0 : std::ranges::min(m_slots, {}, &Slot::previous).previous;
}

void
SlotWorker::Restart(uint64_t first, std::set<uint64_t> had)
{
    CancelTimer();
    m_busySlots = 0;
    m_had = std::move(had);
    m_slots.assign(m_settings.slots, {});
    for (uint64_t packet = first; packet < first + m_slots.size(); ++packet)
    {
        auto& slot = m_slots[packet % m_slots.size()];
        slot.packet = slot.previous = SkipDone(packet);
    }
    for (uint64_t packet = first; packet < first + m_slots.size(); ++packet)
    {
        SendNext(static_cast<uint32_t>(packet % m_slots.size()));
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
