// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-queue-pair.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace ns3::gradsync
{

void
RoceQueuePair::Post(RoceMessage* message)
{
    if (message->packetCount > UINT32_MAX - endPsn)
    {
        throw std::length_error("more than 2^32 packets on one busy connection");
    }
    message->next = nullptr;
    message->firstPsn = endPsn;
    (newest ? newest->next : oldest) = message;
    newest = message;
    sending = sending ? sending : message;
    receiving = receiving ? receiving : message;
    endPsn += message->packetCount;
}

void
RoceQueuePair::Acknowledge(uint32_t psn, ObjectPool<RoceMessage>& pool)
{
    ackedPsn = psn;
    retries = 0;
    if (nextPsn < psn) // acknowledged while going back: no need to send these again
    {
        nextPsn = psn;
        while (sending && sending->EndsBefore(psn))
        {
            sending = sending->next;
        }
    }
    while (oldest && oldest->EndsBefore(psn))
    {
        auto* message = oldest;
        oldest = message->next;
        pool.Give(message);
    }
    if (mayLose)
    {
        droppable->ForgetBefore(std::min(psn, expectedPsn));
    }
    if (gaps)
    {
        gaps->acknowledged.AdvanceTo(psn);
        gaps->nextRepair = std::max(gaps->nextRepair, psn);
        gaps->SkipAcknowledged();
        gaps->oldestMark = nextPsn;
        gaps->repeatOldest = false;
    }
}

void
RoceQueuePair::GoBack()
{
    highestPsn = repeats ? highestPsn : nextPsn;
    repeats = true;
    nextPsn = ackedPsn;
    sending = oldest; // holds ackedPsn, since all messages before it are acknowledged
    if (mayLose)
    {
        SkipDroppable();
    }
}

void
RoceQueuePair::SkipDroppable()
{
    // It stays in its message, the last packet of which is not droppable.
    if (nextPsn < highestPsn)
    {
        nextPsn = std::min(droppable->SkipFrom(nextPsn), highestPsn);
    }
}

uint32_t
RoceQueuePair::GiveUpBefore(uint32_t psn)
{
    const auto from = expectedPsn;
    expectedPsn = std::min(droppable->SkipFrom(from), psn);
    return expectedPsn - from;
}

void
RoceQueuePair::GiveUpSent(ObjectPool<RoceMessage>& pool)
{
    const auto end = std::min(droppable->SkipFrom(ackedPsn), nextPsn);
    if (end > ackedPsn)
    {
        Acknowledge(end, pool);
    }
}

void
RoceQueuePair::RepairAll()
{
    if (!gaps)
    {
        gaps = std::make_unique<RoceGaps>();
    }
    gaps->nextRepair = ackedPsn;
    gaps->endRepair = nextPsn;
    gaps->repeatOldest = false;
    gaps->recoveryEnd = nextPsn;
    gaps->SkipAcknowledged();
}

bool
RoceQueuePair::RepairBefore(uint32_t psn, uint32_t tolerance)
{
    if (!gaps)
    {
        gaps = std::make_unique<RoceGaps>();
    }
    auto& state = *gaps;
    state.acknowledged.AdvanceTo(ackedPsn);
    state.acknowledged.Insert(psn);
    if (psn - ackedPsn <= tolerance)
    {
        return false; // may yet come
    }
    const bool wasRepaired = state.nextRepair > ackedPsn;
    state.nextRepair = std::max(state.nextRepair, ackedPsn);
    state.endRepair = std::max(state.endRepair, psn - tolerance);
    state.SkipAcknowledged();
    if (wasRepaired && !state.repeatOldest && psn - tolerance >= state.oldestMark)
    {
        state.repeatOldest = true;
    }
    const bool isNew = ackedPsn >= state.recoveryEnd;
    if (isNew)
    {
        state.recoveryEnd = nextPsn;
    }
    return isNew;
}

uint32_t
RoceQueuePair::TakeRepair()
{
    auto& state = *gaps;
    const auto psn = state.repeatOldest ? ackedPsn : state.nextRepair++;
    if (psn == ackedPsn)
    {
        state.repeatOldest = false;
        state.oldestMark = nextPsn;
    }
    state.SkipAcknowledged();
    return psn;
}

RoceMessage&
RoceQueuePair::FindMessage(uint32_t psn) const
{
    auto* message = oldest;
    while (message->EndsBefore(psn))
    {
        message = message->next;
    }
    return *message;
}

} // namespace ns3::gradsync
