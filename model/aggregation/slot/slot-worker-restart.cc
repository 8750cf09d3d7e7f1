// SPDX-License-Identifier: GPL-2.0-only
// What a worker of the slot protocol has and lacks, and how it goes on by other slots.
#include "ns3/slot-worker.h"
#include "ns3/switchml-roce-frame.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

/// All as they are before the first message.
void
SlotWorker::ResetSlots(uint64_t first)
{
    m_slots.assign(m_settings.slots / m_settings.wire.messagePackets, {});
    for (auto message = first; message < first + m_slots.size(); ++message)
    {
        const auto number = static_cast<uint32_t>(message % m_slots.size());
        auto& slot = m_slots[number];
        slot.message = slot.previous = SkipDone(message);
        slot.sequence = SwitchMlQueuePair::GetFirstSequence(number);
    }
}

/// The first that is to be sent of this message and those after it in its slot.
uint64_t
SlotWorker::SkipDone(uint64_t message) const
{
    while (m_settings.done.contains(message))
    {
        message += m_slots.size();
    }
    return message;
}

uint64_t
SlotWorker::GetFirstMissing() const
{
    return m_slots.empty() ? 0 : std::ranges::min(m_slots, {}, &Slot::message).message;
}

uint64_t
SlotWorker::GetEnd() const
{
    const auto after = [](const std::set<uint64_t>& messages) {
        return messages.empty() ? 0 : *messages.rbegin() + 1;
    };
    const auto begun = m_slots.empty() ? 0 : std::ranges::max(m_slots, {}, &Slot::message).message;
    return std::max({begun, after(m_settings.done), after(m_had)});
}

bool
SlotWorker::Has(uint64_t message) const
{
    return message < m_slots[message % m_slots.size()].message || m_had.contains(message) ||
           m_settings.done.contains(message);
}

/// Another worker may lack the message before the one that a slot is at, but none before that.
uint64_t
SlotWorker::GetFirstNeeded() const
{
    return m_slots.empty()
               ? 0
               : GetFirstPacket(std::ranges::min(m_slots, {}, &Slot::previous).previous);
}

void
SlotWorker::Restart(uint64_t first, std::set<uint64_t> had)
{
    CancelTimer();
    m_busySlots = 0;
    m_had = std::move(had);
    ResetSlots(first);
    for (uint64_t message = first; message < first + m_slots.size(); ++message)
    {
        SendNext(static_cast<uint32_t>(message % m_slots.size()));
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
        slot.message = UINT64_MAX;
    }
}

} // namespace ns3::gradsync
