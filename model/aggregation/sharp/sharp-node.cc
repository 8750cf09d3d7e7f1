// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/sharp-node.h"

#include "ns3/wrapping-sum.h"

#include <utility>

namespace ns3::gradsync
{

SharpNode::SharpNode(FabricSwitch& forwarder,
                     PacketPool& pool,
                     AggregationContents& contents,
                     bool computesSums)
    : m_forwarder(forwarder),
      m_pool(pool),
      m_contents(contents),
      m_computesSums(computesSums)
{
}

void
SharpNode::AddJob(uint16_t number, const AggregationRole& role)
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
SharpNode::RemoveJob(uint16_t number)
{
    m_jobs.erase(number);
}

void
SharpNode::LoseJobs()
{
    std::erase_if(m_jobs, [](const auto& entry) { return entry.second.role.aggregates; });
}

bool
SharpNode::Concerns(const AggregationPacket& packet) const
{
    const auto found = m_jobs.find(packet.As<SharpHeader>().job);
    return found != m_jobs.end() && found->second.role.aggregates;
}

std::optional<uint32_t>
SharpNode::FindPlace(const AggregationPacket& /* packet */) const
{
    return std::nullopt;
}

void
SharpNode::AddStatistics(AggregationStatistics& total) const
{
    total.repeatedResults += m_repeatedResults;
    total.staleDrops += m_stale;
    total.overflows += m_overflows;
}

bool
SharpNode::Process(FabricPacket* packet, uint16_t port, TimeStepCount now)
{
    const auto& header = m_contents.Get(*packet).As<SharpHeader>();
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
    if (header.isResult)
    {
        OnResult(packet, job, port, now);
    }
    else
    {
        OnContribution(packet, job, port, now);
    }
    return true;
}

bool
SharpNode::HandOn(FabricPacket* packet,
                  const AggregationRole& role,
                  uint16_t port,
                  TimeStepCount now)
{
    const auto& header = m_contents.Get(*packet).As<SharpHeader>();
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

void
SharpNode::OnContribution(FabricPacket* packet, Job& job, uint16_t port, TimeStepCount now)
{
    const auto& content = m_contents.Get(*packet);
    const auto& header = content.As<SharpHeader>();
    const auto child = job.childOf.find(header.child);
    auto& entry = job.entries[header.sequence % job.entries.size()];
    const bool isNew = entry.sequence == UINT64_MAX || entry.sequence < header.sequence;
    if (child == job.childOf.end() || (!isNew && entry.sequence > header.sequence))
    {
        ++m_stale;
        m_pool.Give(packet);
        return;
    }
    if (isNew)
    {
        const auto children = job.role.children.size();
        entry = {.sequence = header.sequence,
                 .added = std::vector<bool>(children, false),
                 .missing = static_cast<uint32_t>(children)};
    }
    if (entry.added[child->second])
    {
        OnRepetition(packet, job, child->second, port, now);
        return;
    }
    entry.added[child->second] = true;
    Add(content, job, entry);
    if (--entry.missing > 0)
    {
        m_pool.Give(packet);
    }
    else if (job.role.up)
    {
        SendUp(packet, job, entry, port, now);
    }
    else
    {
        entry.isAnswered = true;
        Multicast(packet, job, entry, port, now);
    }
}

/// What the child lacks, or the switch above may lack, goes again.
void
SharpNode::OnRepetition(FabricPacket* packet,
                        Job& job,
                        uint32_t child,
                        uint16_t port,
                        TimeStepCount now)
{
    const auto sequence = m_contents.Get(*packet).As<SharpHeader>().sequence;
    const auto& entry = job.entries[sequence % job.entries.size()];
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
SharpNode::OnResult(FabricPacket* packet, Job& job, uint16_t port, TimeStepCount now)
{
    auto& content = m_contents.Get(*packet);
    const auto& header = content.As<SharpHeader>();
    auto& entry = job.entries[header.sequence % job.entries.size()];
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
SharpNode::Add(const AggregationPacket& content, const Job& job, Entry& entry)
{
    entry.hasOverflowed |= content.As<SharpHeader>().hasOverflowed;
    if (entry.missing == job.role.children.size()) // the first
    {
        entry.sum = content.values;
    }
    else if (m_computesSums && AddWrapping(entry.sum, content.values))
    {
        entry.hasOverflowed = true;
        ++m_overflows;
    }
}

void
SharpNode::SendUp(FabricPacket* packet,
                  const Job& job,
                  const Entry& entry,
                  uint16_t port,
                  TimeStepCount now)
{
    auto& content = m_contents.Get(*packet);
    auto& header = content.As<SharpHeader>();
    header.child = job.role.worker;
    header.hasOverflowed = entry.hasOverflowed;
    content.values = entry.sum;
    m_forwarder.Emit(packet, port, *job.role.up, now);
}

/// The packet becomes the last of the copies.
void
SharpNode::Multicast(FabricPacket* packet,
                     const Job& job,
                     const Entry& entry,
                     uint16_t port,
                     TimeStepCount now)
{
    const auto children = static_cast<uint32_t>(job.role.children.size());
    for (uint32_t child = 0; child < children; ++child)
    {
        SendDown(child + 1 < children ? Copy(*packet) : packet, job, entry, child, port, now);
    }
}

FabricPacket*
SharpNode::Copy(const FabricPacket& packet)
{
    auto* copy = m_pool.Take();
    *copy = packet;
    auto& content = m_contents.Attach(*copy);
    const auto& original = m_contents.Get(packet);
    content.driver = original.driver;
    content.As<SharpHeader>() = original.As<SharpHeader>();
    return copy;
}

void
SharpNode::SendDown(FabricPacket* packet,
                    const Job& job,
                    const Entry& entry,
                    uint32_t child,
                    uint16_t port,
                    TimeStepCount now)
{
    const auto& to = job.role.children[child];
    auto& content = m_contents.Get(*packet);
    auto& header = content.As<SharpHeader>();
    header.isResult = true;
    header.child = to.worker;
    header.hasOverflowed = entry.hasOverflowed;
    content.values = entry.sum;
    packet->destination = to.endpoint;
    m_forwarder.Emit(packet, port, to.port, now);
}

} // namespace ns3::gradsync
