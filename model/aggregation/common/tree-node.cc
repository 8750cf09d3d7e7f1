// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/tree-node.h"

#include "ns3/packet-copy.h"

#include <utility>

namespace ns3::gradsync
{

TreeNode::TreeNode(FabricSwitch& forwarder, PacketPool& pool, AggregationContents& contents)
    : m_forwarder(forwarder),
      m_pool(pool),
      m_contents(contents)
{
}

void
TreeNode::AddJob(uint16_t number, const AggregationRole& role)
{
    Job job{role, {}, {}};
    for (uint32_t child = 0; child < role.children.size(); ++child)
    {
        job.childOf.emplace(role.children[child].worker, child);
    }
    job.entries.resize(role.aggregates ? role.slots : 0);
    m_jobs.insert_or_assign(number, std::move(job));
}

void
TreeNode::RemoveJob(uint16_t number)
{
    m_jobs.erase(number);
}

void
TreeNode::LoseJobs()
{
    std::erase_if(m_jobs, [](const auto& entry) { return entry.second.role.aggregates; });
}

bool
TreeNode::Concerns(const AggregationPacket& packet) const
{
    const auto found = m_jobs.find(packet.As<TreeHeader>().job);
    return found != m_jobs.end() && found->second.role.aggregates;
}

std::optional<uint32_t>
TreeNode::FindPlace(const AggregationPacket& /* packet */) const
{
    return std::nullopt;
}

void
TreeNode::AddStatistics(AggregationStatistics& total) const
{
    total.repeatedResults += m_repeatedResults;
    total.staleDrops += m_stale;
    total.overflows += m_overflows;
}

bool
TreeNode::Process(FabricPacket* packet, uint16_t port, TimeStepCount now)
{
    const auto& header = m_contents.Get(*packet).As<TreeHeader>();
    const auto found = m_jobs.find(header.job);
    const bool isForWorker = header.isResult && packet->destination != AggregationRole::NO_ENDPOINT;
    if (found == m_jobs.end())
    {
        if (isForWorker)
        {
            return false; // its way is that of its address
        }
        m_pool.Give(packet); // of a job that is over
        return true;
    }
    auto& job = found->second;
    if (!job.role.aggregates)
    {
        return HandOn(packet, job.role, port, now);
    }
    OnPacket(packet, job, port, now);
    return true;
}

TreeNode::Job*
TreeNode::FindJob(const FabricPacket& packet)
{
    const auto found = m_jobs.find(m_contents.Get(packet).As<TreeHeader>().job);
    return found == m_jobs.end() ? nullptr : &found->second;
}

/// Sums are as long as each of what is added.
void
TreeNode::SetSize(FabricPacket& /* packet */, const Entry& /* entry */) const
{
}

void
TreeNode::Drop(FabricPacket* packet)
{
    m_pool.Give(packet);
}

bool
TreeNode::HandOn(FabricPacket* packet,
                 const AggregationRole& role,
                 uint16_t port,
                 TimeStepCount now)
{
    const auto& header = m_contents.Get(*packet).As<TreeHeader>();
    if (!header.isResult)
    {
        m_forwarder.Emit(packet, port, *role.up, now);
        return true;
    }
    if (packet->destination != AggregationRole::NO_ENDPOINT)
    {
        return false;
    }
    const auto below = role.down.find(header.child);
    if (below == role.down.end())
    {
        m_pool.Give(packet); // of a tree that is gone
        return true;
    }
    m_forwarder.Emit(packet, port, below->second, now);
    return true;
}

std::optional<uint32_t>
TreeNode::Admit(FabricPacket* packet, Job& job, uint16_t port, TimeStepCount now)
{
    const auto& header = m_contents.Get(*packet).As<TreeHeader>();
    const auto child = job.childOf.find(header.child);
    auto& entry = FindEntry(job, header.sequence);
    const bool isNew = entry.sequence == UINT64_MAX || entry.sequence < header.sequence;
    if (child == job.childOf.end() || (!isNew && entry.sequence > header.sequence))
    {
        ++m_stale;
        m_pool.Give(packet);
        return std::nullopt;
    }
    if (isNew)
    {
        const auto children = job.role.children.size();
        entry = {.sequence = header.sequence,
                 .taken = std::vector<bool>(children, false),
                 .missing = static_cast<uint32_t>(children)};
    }
    if (entry.taken[child->second])
    {
        OnRepetition(packet, job, child->second, port, now);
        return std::nullopt;
    }
    entry.taken[child->second] = true;
    return child->second;
}

void
TreeNode::Emit(FabricPacket* packet, Job& job, uint16_t port, TimeStepCount now)
{
    auto& entry = FindEntry(job, m_contents.Get(*packet).As<TreeHeader>().sequence);
    if (job.role.up)
    {
        SendUp(packet, job, entry, port, now);
        return;
    }
    entry.isAnswered = true;
    Multicast(packet, job, entry, port, now);
}

/// What the child lacks, or the switch above may lack, goes again.
void
TreeNode::OnRepetition(FabricPacket* packet,
                       Job& job,
                       uint32_t child,
                       uint16_t port,
                       TimeStepCount now)
{
    const auto sequence = m_contents.Get(*packet).As<TreeHeader>().sequence;
    const auto& entry = FindEntry(job, sequence);
    if (entry.isAnswered)
    {
        ++m_repeatedResults;
        SendDown(packet, job, entry, child, port, now);
    }
    else if (entry.missing == 0)
    {
        SendUp(packet, job, entry, port, now);
    }
    else
    {
        m_pool.Give(packet); // others are missing
    }
}

void
TreeNode::OnResult(FabricPacket* packet, Job& job, uint16_t port, TimeStepCount now)
{
    auto& content = m_contents.Get(*packet);
    const auto& header = content.As<TreeHeader>();
    auto& entry = FindEntry(job, header.sequence);
    if (entry.sequence != header.sequence || entry.missing > 0 || entry.isAnswered)
    {
        ++m_stale;
        m_pool.Give(packet);
        return;
    }
    entry.isAnswered = true;
    entry.sum = content.values;
    entry.hasOverflowed = header.hasOverflowed;
    Multicast(packet, job, entry, port, now);
}

void
TreeNode::SendUp(FabricPacket* packet,
                 const Job& job,
                 const Entry& entry,
                 uint16_t port,
                 TimeStepCount now)
{
    auto& content = m_contents.Get(*packet);
    auto& header = content.As<TreeHeader>();
    header.child = job.role.worker;
    header.hasOverflowed = entry.hasOverflowed;
    content.values = entry.sum;
    SetSize(*packet, entry);
    m_forwarder.Emit(packet, port, *job.role.up, now);
}

/// The packet becomes the last of the copies.
void
TreeNode::Multicast(FabricPacket* packet,
                    const Job& job,
                    const Entry& entry,
                    uint16_t port,
                    TimeStepCount now)
{
    const auto children = static_cast<uint32_t>(job.role.children.size());
    for (uint32_t child = 0; child < children; ++child)
    {
        auto* copy =
            child + 1 < children ? CopyPacket<TreeHeader>(m_pool, m_contents, *packet) : packet;
        SendDown(copy, job, entry, child, port, now);
    }
}

void
TreeNode::SendDown(FabricPacket* packet,
                   const Job& job,
                   const Entry& entry,
                   uint32_t child,
                   uint16_t port,
                   TimeStepCount now)
{
    const auto& to = job.role.children[child];
    auto& content = m_contents.Get(*packet);
    auto& header = content.As<TreeHeader>();
    header.isResult = true;
    header.child = to.worker;
    header.hasOverflowed = entry.hasOverflowed;
    content.values = entry.sum;
    SetSize(*packet, entry);
    packet->destination = to.endpoint;
    m_forwarder.Emit(packet, port, to.port, now);
}

} // namespace ns3::gradsync
