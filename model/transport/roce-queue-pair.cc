// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-queue-pair.h"

#include <cstdint>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

bool
EndsBefore(const RoceMessage& message, uint32_t psn)
{
    return message.firstPsn + message.packetCount <= psn;
}

} // namespace

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
        while (sending && EndsBefore(*sending, psn))
        {
            sending = sending->next;
        }
    }
    while (oldest && EndsBefore(*oldest, psn))
    {
        auto* message = oldest;
        oldest = message->next;
        pool.Give(message);
    }
}

void
RoceQueuePair::GoBack()
{
    nextPsn = ackedPsn;
    sending = oldest; // holds ackedPsn, since all messages before it are acknowledged
}

} // namespace ns3::gradsync
