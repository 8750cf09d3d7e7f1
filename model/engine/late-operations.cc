// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/late-operations.h"

#include <utility>

namespace ns3::gradsync
{

void
LateOperations::Add(uint32_t attempt, Batch batch)
{
    if (!batch.entries.empty())
    {
        m_batches.emplace(attempt, std::move(batch));
    }
}

LateOperations::Batch*
LateOperations::Find(uint64_t tag)
{
    const auto batch = m_batches.find(static_cast<uint32_t>(tag >> 32));
    return batch != m_batches.end() && batch->second.entries.contains(static_cast<OperationId>(tag))
               ? &batch->second
               : nullptr;
}

std::vector<uint64_t>
LateOperations::Finish(uint64_t tag)
{
    auto ready = Release(static_cast<uint32_t>(tag >> 32), static_cast<OperationId>(tag));
    Forget(tag);
    return ready;
}

void
LateOperations::Forget(uint64_t tag)
{
    const auto batch = m_batches.find(static_cast<uint32_t>(tag >> 32));
    if (batch != m_batches.end())
    {
        batch->second.entries.erase(static_cast<OperationId>(tag));
        if (batch->second.entries.empty())
        {
            m_batches.erase(batch);
        }
    }
}

std::vector<uint64_t>
LateOperations::Release(uint32_t attempt, OperationId done)
{
    std::vector<uint64_t> ready;
    const auto batch = m_batches.find(attempt);
    if (batch == m_batches.end())
    {
        return ready;
    }
    auto& entries = batch->second.entries;
    for (const auto successor : batch->second.plan->GetSuccessors(done))
    {
        const auto entry = entries.find(successor);
        if (entry != entries.end() && --entry->second.waiting == 0)
        {
            ready.push_back(uint64_t{attempt} << 32 | successor);
        }
    }
    return ready;
}

} // namespace ns3::gradsync
