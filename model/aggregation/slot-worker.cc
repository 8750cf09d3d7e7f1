// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-worker.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

/// Timeouts in a row after which the timer is not doubled any more.
constexpr uint32_t MAX_DOUBLINGS = 6;

constexpr uint32_t BYTES_PER_VALUE = 4;

} // namespace

SlotWorker::SlotWorker(const SlotJob& job, uint16_t rank, uint32_t endpoint, FabricPort& port)
    : m_job(job),
      m_rank(rank),
      m_endpoint(endpoint),
      m_port(port),
      m_slots(job.slots)
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
SlotWorker::Contribute(const AggregationMessage& message)
{
    m_ahead.emplace(message.index, message);
    const auto first = m_packetCount;
    while (!m_ahead.empty() && m_ahead.begin()->first == m_nextIndex)
    {
        Append(m_ahead.begin()->second);
        m_ahead.erase(m_ahead.begin());
        ++m_nextIndex;
    }
    const auto count = std::min<uint64_t>(m_packetCount - first, m_slots.size());
    for (uint64_t packet = first; packet < first + count; ++packet)
    {
        const auto slot = static_cast<uint32_t>(packet % m_slots.size());
        if (!m_slots[slot].isBusy)
        {
            SendNext(slot);
        }
    }
}

void
SlotWorker::Append(const AggregationMessage& message)
{
    const uint64_t packetBytes = uint64_t{BYTES_PER_VALUE} * m_job.valueCount;
    // An empty contribution still costs one packet.
    const auto count = std::max<uint64_t>((message.bytes + packetBytes - 1) / packetBytes, 1);
    m_messages.push_back({message, m_packetCount, count, count});
    m_packetCount += count;
}

SlotWorker::Message&
SlotWorker::FindMessage(uint64_t packet)
{
    return *std::prev(std::upper_bound(
        m_messages.begin(),
        m_messages.end(),
        packet,
        [](uint64_t number, const Message& message) { return number < message.firstPacket; }));
}

/// Of a message in one of its packets; the last may have fewer.
uint32_t
SlotWorker::GetBytes(const Message& message, uint64_t packet) const
{
    const uint64_t packetBytes = uint64_t{BYTES_PER_VALUE} * m_job.valueCount;
    const auto before = (packet - message.firstPacket) * packetBytes;
    return static_cast<uint32_t>(std::min(message.request.bytes - before, packetBytes));
}

/// Sends the packet that a free slot is to send next, if it is there.
void
SlotWorker::SendNext(uint32_t slot)
{
    if (m_slots[slot].packet < m_packetCount)
    {
        m_slots[slot].isBusy = true;
        m_slots[slot].timeouts = 0;
        ++m_busySlots;
        Transmit(slot);
    }
}

void
SlotWorker::Transmit(uint32_t slot)
{
    auto& state = m_slots[slot];
    const auto& message = FindMessage(state.packet);
    auto* packet = m_job.pool->Take();
    auto& content = m_job.contents->Attach(*packet);
    content.header = {
        .messageType = static_cast<uint8_t>(SlotMessage::Contribution),
        .job = m_job.number,
        .worker = m_rank,
        .count = m_job.valueCount,
        .slot = static_cast<uint16_t>(slot),
        .epoch = static_cast<uint16_t>(state.packet / m_slots.size()),
        .offset = static_cast<uint32_t>((state.packet - message.firstPacket) * m_job.valueCount)};
    content.values.clear();
    if (m_job.tensor)
    {
        m_job.tensor->Fill(m_rank, state.packet, content.values);
    }
    packet->connection = UINT32_MAX;
    packet->generation = 0;
    packet->psn = 0;
    packet->destination = UINT32_MAX; // the switches know
    packet->flowHash = m_job.number;
    packet->payloadBytes = static_cast<uint16_t>(GetBytes(message, state.packet));
    packet->wireBytes = static_cast<uint16_t>(m_job.wireBytes);
    packet->kind = PacketKind::Data;
    const auto now = Simulator::Now();
    state.due = now + m_job.timeout * (int64_t{1} << std::min(state.timeouts, MAX_DOUBLINGS));
    SetTimer(state.due);
    m_port.Sync(now.GetTimeStep());
    if (m_port.IsFree(now.GetTimeStep()))
    {
        m_port.StartNow(packet, now.GetTimeStep());
    }
    else
    {
        m_port.QueueData(packet, now.GetTimeStep());
    }
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
    ++statistics.results;
    if (m_job.tensor)
    {
        ++statistics.checkedSums;
        statistics.wrongSums += m_job.tensor->IsSum(slot.packet, packet.values) ? 0 : 1;
    }
    const auto done = slot.packet;
    slot.isBusy = false;
    slot.packet += m_slots.size();
    --m_busySlots;
    SendNext(number);
    if (m_busySlots == 0)
    {
        CancelTimer();
    }
    Finish(done);
}

void
SlotWorker::Finish(uint64_t packet)
{
    auto& message = FindMessage(packet);
    m_resultBytes += GetBytes(message, packet);
    if (--message.missing > 0)
    {
        return;
    }
    const auto request = message.request;
    while (!m_messages.empty() && m_messages.front().missing == 0)
    {
        m_messages.pop_front();
    }
    request.handler->OnDelivered(request.tag); // last: it may contribute, and so change everything
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
    m_port.Sync(now.GetTimeStep());
    const bool isWaiting = m_port.GetQueueBytes() > 0; // before any of these is sent again
    for (uint32_t slot = 0; slot < m_slots.size(); ++slot)
    {
        auto& state = m_slots[slot];
        if (!state.isBusy || state.due > now)
        {
            continue;
        }
        if (isWaiting)
        {
            state.due = now + m_job.timeout; // it may not have left yet
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
        const auto request = FindMessage(state.packet).request;
        const auto reason =
            fmt::format("no sum from the switches for slot {} of worker {} after {} "
                        "timeouts in a row",
                        slot,
                        m_rank,
                        m_job.retryLimit);
        Stop();
        request.handler->OnFailed(request.tag, reason);
        return false;
    }
    ++m_retransmissions;
    m_retransmittedBytes += GetBytes(FindMessage(state.packet), state.packet);
    Transmit(slot);
    return true;
}

void
SlotWorker::Stop()
{
    CancelTimer();
    m_messages.clear();
    m_ahead.clear();
    m_busySlots = 0;
    for (auto& slot : m_slots)
    {
        slot.isBusy = false;
        slot.packet = UINT64_MAX;
    }
}

bool
SlotWorker::IsMeant(const Transport::MessageFilter& isMeant) const
{
    const bool isIdle = m_messages.empty() && m_ahead.empty();
    return !isIdle && std::ranges::all_of(m_messages, [&](const Message& message) {
        return message.missing == 0 || isMeant(m_endpoint, m_endpoint, message.request.handler);
    });
}

} // namespace ns3::gradsync
