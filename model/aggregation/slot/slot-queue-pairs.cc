// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-queue-pairs.h"

#include "ns3/switchml-roce-frame.h"

#include <utility>

namespace ns3::gradsync
{

std::optional<uint32_t>
SlotQueuePairs::Receive(const Arrival& packet)
{
    auto& receiver = m_receivers[{packet.worker, packet.queuePair}];
    if (packet.isFirst)
    {
        receiver.pool = packet.pool;
        receiver.next = FollowSequence(packet.sequence);
    }
    else if (receiver.pool && packet.sequence == receiver.next)
    {
        *receiver.pool += 2; // the next slot of the same set
        receiver.next = FollowSequence(packet.sequence);
    }
    else
    {
        receiver.pool.reset();
        ++m_violations;
    }
    return receiver.pool;
}

uint32_t
SlotQueuePairs::TakeSequence(uint32_t worker, uint32_t queuePair)
{
    const auto [found, isNew] =
        m_sequences.emplace(Key{worker, queuePair}, SwitchMlQueuePair::GetFirstSequence(queuePair));
    return std::exchange(found->second, FollowSequence(found->second));
}

} // namespace ns3::gradsync
