// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-connection-table.h"

#include "ns3/hash.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

uint64_t
RoceConnection::GetHash() const
{
    const uint32_t key[] = {src, dst, stream};
    return Hash64(reinterpret_cast<const char*>(key), sizeof(key));
}

RoceQueuePair&
RoceConnectionTable::TakeUnused()
{
    if (m_unused)
    {
        auto* queuePair = m_unused;
        m_unused = queuePair->nextReady;
        return *queuePair;
    }
    const auto block = m_count / BLOCK_SIZE * m_blockStride + m_ownBlock;
    const auto index = block * BLOCK_SIZE + m_count % BLOCK_SIZE;
    if (m_count++ % BLOCK_SIZE == 0)
    {
        ProvideBlock(block);
    }
    m_end = std::max(m_end, index + 1);
    auto& queuePair = At(index);
    queuePair.index = index;
    return queuePair;
}

void
RoceConnectionTable::ProvideBlock(size_t block)
{
    if (block >= m_blocks.size())
    {
        m_blocks.resize(block + 1);
    }
    if (!m_blocks[block])
    {
        m_blocks[block] = std::make_unique<RoceQueuePair[]>(BLOCK_SIZE);
    }
}

void
RoceConnectionTable::Grow()
{
    const auto old =
        std::exchange(m_slots, std::vector<Slot>(std::max<size_t>(64, 2 * m_slots.size())));
    for (const auto& slot : old)
    {
        if (slot.index == NONE)
        {
            continue;
        }
        auto to = GetHome(slot.place);
        while (m_slots[to].index != NONE)
        {
            to = GetNextSlot(to);
        }
        m_slots[to] = slot;
    }
}

std::pair<RoceQueuePair&, bool>
RoceConnectionTable::Open(const RoceConnection& connection)
{
    if (2 * (m_openCount + 1) > m_slots.size())
    {
        Grow();
    }
    const auto place = connection.GetPlace();
    auto slot = GetHome(place);
    for (; m_slots[slot].index != NONE; slot = GetNextSlot(slot))
    {
        if (m_slots[slot].place == place)
        {
            auto& queuePair = At(m_slots[slot].index);
            if (queuePair.dst == connection.dst && queuePair.src == connection.src &&
                queuePair.stream == connection.stream)
            {
                return {queuePair, false};
            }
        }
    }
    auto& queuePair = TakeUnused();
    const auto index = queuePair.index;
    Begin(queuePair, index, queuePair.generation + 1, connection);
    m_slots[slot] = {place, index};
    ++m_openCount;
    return {queuePair, true};
}

void
RoceConnectionTable::Begin(RoceQueuePair& queuePair,
                           uint32_t index,
                           uint32_t generation,
                           const RoceConnection& connection)
{
    queuePair = RoceQueuePair{};
    queuePair.index = index;
    queuePair.generation = generation;
    queuePair.src = connection.src;
    queuePair.dst = connection.dst;
    queuePair.stream = connection.stream;
    queuePair.flowHash = static_cast<uint32_t>(connection.GetHash());
}

std::pair<RoceQueuePair&, bool>
RoceConnectionTable::Mirror(uint32_t index, uint32_t generation, const RoceConnection& connection)
{
    ProvideBlock(index / BLOCK_SIZE);
    m_end = std::max(m_end, index + 1);
    auto& queuePair = At(index);
    const bool isNew = queuePair.generation != generation;
    if (isNew)
    {
        Begin(queuePair, index, generation, connection);
        queuePair.isMirror = true;
    }
    return {queuePair, isNew};
}

std::vector<RoceQueuePair*>
RoceConnectionTable::ListOpen() const
{
    std::vector<RoceQueuePair*> open;
    open.reserve(m_openCount);
    for (const auto& slot : m_slots)
    {
        if (slot.index != NONE)
        {
            open.push_back(&At(slot.index));
        }
    }
    std::sort(open.begin(), open.end(), [](const auto* first, const auto* second) {
        return first->index < second->index;
    });
    return open;
}

void
RoceConnectionTable::Close(RoceQueuePair& queuePair)
{
    auto free = GetHome(RoceConnection{queuePair.src, queuePair.dst, queuePair.stream}.GetPlace());
    while (m_slots[free].index != queuePair.index)
    {
        free = GetNextSlot(free);
    }
    // Those after it move up, each no farther than its home, so that searches need no gaps.
    for (auto i = GetNextSlot(free); m_slots[i].index != NONE; i = GetNextSlot(i))
    {
        const auto mask = m_slots.size() - 1;
        if (((i - GetHome(m_slots[i].place)) & mask) >= ((i - free) & mask))
        {
            m_slots[free] = m_slots[i];
            free = i;
        }
    }
    m_slots[free].index = NONE;
    --m_openCount;
    ++queuePair.generation;
    queuePair.isClosed = true;
    if (!queuePair.isReady)
    {
        Recycle(queuePair);
    }
}

void
RoceConnectionTable::Recycle(RoceQueuePair& queuePair)
{
    queuePair.nextReady = m_unused;
    m_unused = &queuePair;
}

} // namespace ns3::gradsync
