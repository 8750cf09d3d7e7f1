// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-queue-pair.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

/// What may be lost, and gaps, before what is acknowledged.
void
ForgetAcknowledged(const RoceQueuePair& queuePair)
{
    const auto psn = queuePair.ackedPsn;
    if (queuePair.mayLose)
    {
        queuePair.incidents->droppable->ForgetBefore(std::min(psn, queuePair.expectedPsn));
    }
    if (queuePair.hasGaps)
    {
        auto& gaps = *queuePair.incidents->gaps;
        gaps.acknowledged.AdvanceTo(psn);
        gaps.nextRepair = std::max(gaps.nextRepair, psn);
        gaps.SkipAcknowledged();
        gaps.oldestMark = queuePair.nextPsn;
        gaps.repeatOldest = false;
    }
}

} // namespace

void
RoceQueuePair::Post(RoceMessages* place, const MessageSeries& series, uint32_t packetCount)
{
    const auto packets = uint64_t{packetCount} * series.GetCount();
    if (packets > UINT32_MAX - endPsn)
    {
        throw std::length_error("more than 2^32 packets on one busy connection");
    }
    *place = {nullptr, series, endPsn, packetCount};
    (newest ? newest->next : oldest) = place;
    newest = place;
    sending = sending ? sending : place;
    receiving = receiving ? receiving : place;
    endPsn += static_cast<uint32_t>(packets);
}

bool
RoceQueuePair::Append(const Message& message, uint32_t packetCount)
{
    if (!newest || newest->packetCount != packetCount ||
        !newest->series.Append(message.bytes, message.tag, message.handler))
    {
        return false;
    }
    sending = sending ? sending : newest;
    receiving = receiving ? receiving : newest;
    endPsn += packetCount;
    return true;
}

bool
RoceQueuePair::MayBeginAnew(uint32_t ackEvery) const
{
    if (incidents || nakSent || !sending || sending != newest || oldest != newest)
    {
        return false;
    }
    if (!receiving)
    {
        return GetInFlight() == 0 && CountSent() == 0;
    }
    return nextPsn == expectedPsn && (ackEvery == 0 || lastAckedPsn == ackedPsn) &&
           GetInFlight() == CountUnanswered(CountSent(), ackEvery);
}

void
RoceQueuePair::Acknowledge(uint32_t psn, ObjectPool<RoceMessages>& pool)
{
    ackedPsn = psn;
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
        auto* messages = oldest;
        oldest = messages->next;
        pool.Give(messages);
    }
    if (incidents) [[unlikely]]
    {
        incidents->retries = 0;
        ForgetAcknowledged(*this);
    }
}

RoceGaps&
RoceQueuePair::ProvideGaps()
{
    auto& gaps = ProvideIncidents().gaps;
    if (!gaps)
    {
        gaps = std::make_unique<RoceGaps>();
        hasGaps = true;
    }
    return *gaps;
}

void
RoceQueuePair::GoBack()
{
    auto& highestPsn = ProvideIncidents().highestPsn;
    highestPsn = repeats ? highestPsn : nextPsn;
    repeats = true;
    nextPsn = ackedPsn;
    sending = oldest; // hold ackedPsn, since all messages before them are acknowledged
    if (mayLose)
    {
        SkipDroppable();
    }
}

void
RoceQueuePair::SkipDroppable()
{
    // It stays in its message, the last packet of which is not droppable.
    if (const auto end = incidents->highestPsn; nextPsn < end)
    {
        nextPsn = std::min(incidents->droppable->SkipFrom(nextPsn), end);
    }
}

uint32_t
RoceQueuePair::GiveUpBefore(uint32_t psn)
{
    const auto from = expectedPsn;
    expectedPsn = std::min(incidents->droppable->SkipFrom(from), psn);
    return expectedPsn - from;
}

void
RoceQueuePair::GiveUpSent(ObjectPool<RoceMessages>& pool)
{
    const auto end = std::min(incidents->droppable->SkipFrom(ackedPsn), nextPsn);
    if (end > ackedPsn)
    {
        Acknowledge(end, pool);
    }
}

void
RoceQueuePair::RepairAll()
{
    auto& gaps = ProvideGaps();
    gaps.nextRepair = ackedPsn;
    gaps.endRepair = nextPsn;
    gaps.repeatOldest = false;
    gaps.recoveryEnd = nextPsn;
    gaps.SkipAcknowledged();
}

bool
RoceQueuePair::RepairBefore(uint32_t psn, uint32_t tolerance)
{
    auto& state = ProvideGaps();
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
    auto& state = *incidents->gaps;
    const auto psn = state.repeatOldest ? ackedPsn : state.nextRepair++;
    if (psn == ackedPsn)
    {
        state.repeatOldest = false;
        state.oldestMark = nextPsn;
    }
    state.SkipAcknowledged();
    return psn;
}

RoceMessages&
RoceQueuePair::FindMessages(uint32_t psn) const
{
    auto* messages = oldest;
    while (messages->EndsBefore(psn))
    {
        messages = messages->next;
    }
    return *messages;
}

} // namespace ns3::gradsync
