// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_POST_H
#define GRADSYNC_ROCE_POST_H

#include "ns3/message-series.h"
#include "ns3/message.h"
#include "ns3/roce-queue-pair.h"

#include <cstdint>

namespace ns3::gradsync
{

/// Messages in a row of one queue pair, as another process is told of them (RoceMirrors).
struct RocePost
{
    TimeStepCount at;       //!< when the only one was sent; -1: nobody asks
    MessageSeries messages; //!< whose handler is one of the process that tells
    uint32_t src;
    uint32_t receiver; //!< its number, which tells the destination
    uint32_t stream;
    uint32_t index;
    uint32_t generation;
    uint32_t firstPsn; //!< of the first packet

    /// With one more of a queue pair. \returns false when it does not go on as these do; nothing
    /// changes then
    bool Append(const RoceQueuePair& queuePair, const Message& message)
    {
        return queuePair.index == index && queuePair.generation == generation && at == -1 &&
               messages.Append(message.bytes, message.tag, message.handler);
    }
};

static_assert(sizeof(RocePost) == 64, "a line of the cache");

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_POST_H
