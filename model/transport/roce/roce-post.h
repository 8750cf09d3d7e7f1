// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_POST_H
#define GRADSYNC_ROCE_POST_H

#include "ns3/fabric-packet.h"

#include <cstdint>

namespace ns3::gradsync
{

/// Messages in a row as another process is told of them (RoceMirrors): of one queue pair, of one
/// size, their tags with equal steps.
struct RocePost
{
    TimeStepCount at; //!< when the only one was sent; -1: nobody asks
    uint64_t bytes;   //!< of each
    uint64_t tag;     //!< of the first
    uint32_t src;
    uint32_t receiver; //!< its number, which tells the destination
    uint32_t stream;
    uint32_t index;
    uint32_t generation;
    uint32_t firstPsn; //!< of the first packet
    uint32_t tagStep{0};
    uint32_t count{1};

    uint64_t GetTag(uint32_t place) const
    {
        return tag + uint64_t{place} * tagStep;
    }

    /// With one of one message. \returns false when it does not go on as these do; nothing changes
    /// then
    bool Append(const RocePost& post)
    {
        const auto step = post.tag - GetTag(count - 1);
        const bool goesOn = count == 1 ? step <= UINT32_MAX : step == tagStep;
        if (post.index != index || post.generation != generation || post.receiver != receiver ||
            post.bytes != bytes || at != -1 || !goesOn)
        {
            return false;
        }
        tagStep = static_cast<uint32_t>(step);
        ++count;
        return true;
    }
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_POST_H
