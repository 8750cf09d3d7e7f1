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
        m_unused = queuePair->next;
        return *queuePair;
    }
    if (m_count % BLOCK_SIZE == 0)
    {
        m_blocks.push_back(std::make_unique<RoceQueuePair[]>(BLOCK_SIZE));
    }
    const auto index = m_count++;
    auto& queuePair = At(index);
    queuePair.index = index;
    return queuePair;
}

void
RoceConnectionTable::GrowBuckets()
{
    const auto old =
        std::exchange(m_buckets,
                      std::vector<RoceQueuePair*>(std::max<size_t>(64, 2 * m_buckets.size())));
    for (auto* queuePair : old)
    {
        while (queuePair)
        {
            auto*& bucket = GetBucket(queuePair->flowHash);
            auto* next = std::exchange(queuePair->next, bucket);
            bucket = std::exchange(queuePair, next);
        }
    }
}

std::pair<RoceQueuePair&, bool>
RoceConnectionTable::Open(const RoceConnection& connection)
{
    if (m_openCount >= m_buckets.size())
    {
        GrowBuckets();
    }
    const auto flowHash = static_cast<uint32_t>(connection.GetHash());
    auto& bucket = GetBucket(flowHash);
    for (auto* queuePair = bucket; queuePair; queuePair = queuePair->next)
    {
        if (queuePair->flowHash == flowHash && queuePair->dst == connection.dst &&
            queuePair->src == connection.src && queuePair->stream == connection.stream)
        {
            return {*queuePair, false};
        }
    }
    auto& queuePair = TakeUnused();
    const auto index = queuePair.index;
    const auto generation = queuePair.generation + 1;
    queuePair = RoceQueuePair{};
    queuePair.index = index;
    queuePair.generation = generation;
    queuePair.src = connection.src;
    queuePair.dst = connection.dst;
    queuePair.stream = connection.stream;
    queuePair.flowHash = flowHash;
    queuePair.next = std::exchange(bucket, &queuePair);
    ++m_openCount;
    return {queuePair, true};
}

std::vector<RoceQueuePair*>
RoceConnectionTable::ListOpen() const
{
    std::vector<RoceQueuePair*> open;
    open.reserve(m_openCount);
    for (auto* queuePair : m_buckets)
    {
        for (; queuePair; queuePair = queuePair->next)
        {
            open.push_back(queuePair);
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
    auto** link = &GetBucket(queuePair.flowHash);
    while (*link != &queuePair)
    {
        link = &(*link)->next;
    }
    *link = queuePair.next;
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
    queuePair.next = m_unused;
    m_unused = &queuePair;
}

} // namespace ns3::gradsync
