// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-connection-table.h"

#include "ns3/hash.h"

#include <algorithm>

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
    auto* queuePair = m_pool.Take();
    *queuePair = RoceQueuePair{};
    queuePair->index = static_cast<uint32_t>(m_byIndex.size());
    m_byIndex.push_back(queuePair);
    return *queuePair;
}

std::pair<RoceQueuePair&, bool>
RoceConnectionTable::Open(const RoceConnection& connection)
{
    const auto [entry, isNew] = m_open.try_emplace(connection, nullptr);
    if (isNew)
    {
        auto& queuePair = TakeUnused();
        const auto index = queuePair.index;
        const auto generation = queuePair.generation + 1;
        queuePair = RoceQueuePair{};
        queuePair.index = index;
        queuePair.generation = generation;
        queuePair.src = connection.src;
        queuePair.dst = connection.dst;
        queuePair.stream = connection.stream;
        queuePair.flowHash = static_cast<uint32_t>(connection.GetHash());
        entry->second = &queuePair;
    }
    return {*entry->second, isNew};
}

std::vector<RoceQueuePair*>
RoceConnectionTable::ListOpen() const
{
    std::vector<RoceQueuePair*> open;
    open.reserve(m_open.size());
    for (const auto& [connection, queuePair] : m_open)
    {
        open.push_back(queuePair);
    }
    std::sort(open.begin(), open.end(), [](const auto* first, const auto* second) {
        return first->index < second->index;
    });
    return open;
}

void
RoceConnectionTable::Close(RoceQueuePair& queuePair)
{
    m_open.erase({queuePair.src, queuePair.dst, queuePair.stream});
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
