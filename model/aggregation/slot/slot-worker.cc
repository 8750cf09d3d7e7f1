// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-worker.h"

#include "ns3/simulator.h"
#include "ns3/slot-header.h"
#include "ns3/switchml-roce-frame.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

SlotWorker::SlotWorker(const AggregationJob& job,
                       const Settings& settings,
                       uint16_t rank,
                       uint32_t endpoint,
                       FabricPort& port)
    : AggregationWorker(job, rank, endpoint, port),
      m_settings(settings),
      m_backoff(settings.backoff)
{
    ResetSlots(0);
}

uint64_t
SlotWorker::GetFirstPacket(uint64_t message) const
{
    return message * m_settings.wire.messagePackets;
}

void
SlotWorker::SendFrom(uint64_t first)
{
    const auto messagePackets = m_settings.wire.messagePackets;
    if (m_settings.wire.format == FORMAT_SWITCHML)
    {
        m_backoff.Reset();
    }
    const auto count =
        std::min<uint64_t>((GetPacketCount() - first) / messagePackets, m_slots.size());
    for (auto message = first / messagePackets; message < first / messagePackets + count; ++message)
    {
        SendIfIdle(message);
    }
}

/// Sends what the slot of a message that was not ready is at.
void
SlotWorker::SendIfIdle(uint64_t message)
{
    const auto slot = static_cast<uint32_t>(message % m_slots.size());
    if (!m_slots[slot].isBusy)
    {
        SendNext(slot);
    }
}

/// Whether values may be scaled: the exponent of their packet is that of all workers.
bool
SlotWorker::KnowsExponent(uint64_t message)
{
    const auto source = FindExponent(GetFirstPacket(message));
    return !source || Has(*source / m_settings.wire.messagePackets);
}

/// Sends the message that a free slot is to send next, if it is there.
void
SlotWorker::SendNext(uint32_t slot)
{
    const auto message = m_slots[slot].message;
    if (message < GetPacketCount() / m_settings.wire.messagePackets && KnowsExponent(message))
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
    state.due = Simulator::Now() + GetTimeout(state);
    SetTimer(state.due);
    for (uint32_t place = 0; place < m_settings.wire.messagePackets; ++place)
    {
        SendPacket(slot, place);
    }
}

/// \param place of the packet in its message
void
SlotWorker::SendPacket(uint32_t slot, uint32_t place)
{
    auto& state = m_slots[slot];
    const auto& wire = m_settings.wire;
    const auto number = GetFirstPacket(state.message) + place;
    const auto poolSlot = slot * wire.messagePackets + place;
    auto* packet = MakePacket(number);
    packet->wireBytes = wire.GetWireBytes(poolSlot);
    auto& header = m_job.contents->Get(*packet).As<SlotHeader>();
    header = {.messageType = static_cast<uint8_t>(SlotMessage::Contribution),
              .job = m_job.number,
              .worker = m_rank,
              .count = m_job.valueCount,
              .slot = static_cast<uint16_t>(poolSlot),
              .epoch = state.epoch,
              .offset = GetTag(number),
              .exponentA = GetExponent(number)};
    if (wire.HasVersionBit())
    {
        header.epoch &= 1;
        header.aggregation = static_cast<uint8_t>(GetAggregation(number));
        header.sequence = state.sequence;
        state.sequence = FollowSequence(state.sequence);
    }
    Transmit(packet);
}

/// What a packet says that the switch only repeats: where its values are, or by which SwitchML's
/// clients know a result.
uint32_t
SlotWorker::GetTag(uint64_t packet)
{
    switch (m_settings.wire.format)
    {
    case FORMAT_SLOT:
        break;
    case FORMAT_SWITCHML:
        return static_cast<uint32_t>(GetPlace(packet));
    case FORMAT_SWITCHML_ROCE:
        return static_cast<uint16_t>(packet / m_settings.wire.messagePackets);
    }
    return static_cast<uint32_t>(GetFirstValue(packet));
}

Time
SlotWorker::GetTimeout(const Slot& slot) const
{
    return m_settings.wire.HasVersionBit() ? m_backoff.GetTimeout()
                                           : BackOff(m_settings.backoff.timeout, slot.timeouts);
}

/// Whether a result is that of the message that is under way, as far as its format tells.
bool
SlotWorker::IsExpected(const SlotHeader& header, const Slot& slot)
{
    const auto first = GetFirstPacket(slot.message);
    switch (m_settings.wire.format)
    {
    case FORMAT_SLOT:
        break;
    case FORMAT_SWITCHML:
        return header.offset == GetTag(first) &&
               header.aggregation == static_cast<uint8_t>(GetAggregation(first));
    case FORMAT_SWITCHML_ROCE:
        return header.offset == GetTag(first);
    }
    return header.epoch == slot.epoch;
}

void
SlotWorker::OnResult(const AggregationPacket& packet, AggregationStatistics& statistics)
{
    const auto& header = packet.As<SlotHeader>();
    const auto number = m_settings.wire.GetQueuePair(header.slot);
    if (number >= m_slots.size())
    {
        return;
    }
    auto& slot = m_slots[number];
    const bool hasQueuePairs = m_settings.wire.HasQueuePairs();
    if (hasQueuePairs && !slot.receiver.Receive(m_settings.wire, packet))
    {
        return; // a part of a message
    }
    const auto pieces = slot.receiver.TakePieces();
    if (!slot.isBusy || !IsExpected(header, slot))
    {
        return; // it came twice
    }
    const auto done = slot.message;
    const auto follower = FindFollower(GetFirstPacket(done));
    const bool isNew = m_had.erase(done) == 0;
    slot.isBusy = false;
    slot.previous = done;
    slot.message = SkipDone(done + m_slots.size());
    ++slot.epoch;
    --m_busySlots;
    SendNext(number);
    if (follower)
    {
        SendIfIdle(*follower / m_settings.wire.messagePackets);
    }
    if (m_busySlots == 0)
    {
        CancelTimer();
    }
    if (isNew && hasQueuePairs)
    {
        FinishMessage(done, pieces, statistics);
    }
    else if (isNew)
    {
        Finish(done,
               {.values = packet.values,
                .hasOverflowed = (header.flags & SlotFlag::OVERFLOWED) != 0,
                .exponent = header.exponentA},
               statistics);
    }
}

void
SlotWorker::FinishMessage(uint64_t message, const Pieces& pieces, AggregationStatistics& statistics)
{
    auto packet = GetFirstPacket(message);
    for (const auto& piece : pieces)
    {
        if (m_halted)
        {
            return; // a sum was wrong
        }
        Finish(packet,
               {.values = piece.values,
                .hasOverflowed = piece.hasOverflowed,
                .exponent = piece.exponent},
               statistics);
        ++packet;
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
            state.due = now + m_settings.backoff.timeout; // it may not have left yet
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
        Fail(GetFirstPacket(state.message),
             fmt::format("no sum from the switches for slot {} of worker {} after {} timeouts in a "
                         "row",
                         slot,
                         m_rank,
                         m_job.retryLimit));
        return false;
    }
    m_backoff.OnTimeout();
    for (uint32_t place = 0; place < m_settings.wire.messagePackets; ++place)
    {
        CountRetransmission(GetFirstPacket(state.message) + place);
    }
    Send(slot);
    return true;
}

} // namespace ns3::gradsync
