// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/netreduce-node.h"

#include "ns3/netreduce-header.h"
#include "ns3/wrapping-sum.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

NetReduceNode::NetReduceNode(FabricSwitch& forwarder,
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
NetReduceNode::AddJob(uint16_t number, const AggregationRole& role, uint64_t first)
{
    Job job{.role = role,
            .childOf = {},
            .entries = {},
            .expected = {},
            .begun = first,
            .completed = first,
            .answered = first};
    if (role.aggregates)
    {
        const auto children = role.children.size();
        job.expected.assign(children, first);
        job.entries.resize(role.slots);
        for (auto& entry : job.entries)
        {
            entry.held.assign(children, nullptr);
        }
        for (uint32_t child = 0; child < children; ++child)
        {
            job.childOf.emplace(role.children[child].worker, child);
        }
    }
    m_jobs.emplace(number, std::move(job));
}

/// The packets that it holds.
void
NetReduceNode::Forget(const Job& job)
{
    for (const auto& entry : job.entries)
    {
        for (auto* packet : entry.held)
        {
            if (packet)
            {
                m_pool.Give(packet);
            }
        }
    }
}

void
NetReduceNode::RemoveJob(uint16_t job)
{
    const auto found = m_jobs.find(job);
    if (found != m_jobs.end())
    {
        Forget(found->second);
        m_jobs.erase(found);
    }
}

void
NetReduceNode::LoseJobs()
{
    std::erase_if(m_jobs, [this](const auto& entry) {
        if (entry.second.role.aggregates)
        {
            Forget(entry.second);
        }
        return entry.second.role.aggregates;
    });
}

bool
NetReduceNode::Concerns(const AggregationPacket& packet) const
{
    const auto found = m_jobs.find(packet.As<NetReduceHeader>().job);
    return found != m_jobs.end() && found->second.role.aggregates;
}

std::optional<uint32_t>
NetReduceNode::FindPlace(const AggregationPacket& /* packet */) const
{
    return std::nullopt;
}

void
NetReduceNode::AddStatistics(AggregationStatistics& total) const
{
    total.repeatedResults += m_repeatedResults;
    total.overflows += m_overflows;
}

bool
NetReduceNode::Process(FabricPacket* packet, uint16_t port, TimeStepCount now)
{
    const auto& header = m_contents.Get(*packet).As<NetReduceHeader>();
    const auto found = m_jobs.find(header.job);
    if (found == m_jobs.end())
    {
        if (header.isResult)
        {
            return false;
        }
        m_pool.Give(packet); // a receiver would take it for a sum
        return true;
    }
    auto& job = found->second;
    if (!job.role.aggregates)
    {
        return HandOn(packet, port, job.role, now);
    }
    packet->ingressPort = port;
    if (header.isResult)
    {
        OnResult(packet, job, now);
        return true;
    }
    const auto child = job.childOf.find(header.child);
    if (child == job.childOf.end())
    {
        m_pool.Give(packet); // of a tree that is gone
        return true;
    }
    OnContribution(packet, job, child->second, now);
    return true;
}

bool
NetReduceNode::HandOn(FabricPacket* packet,
                      uint16_t port,
                      const AggregationRole& role,
                      TimeStepCount now)
{
    const auto& header = m_contents.Get(*packet).As<NetReduceHeader>();
    const auto below = role.down.find(header.child);
    if (header.isResult && below == role.down.end())
    {
        return false; // to a worker, whose way is that of its address
    }
    m_forwarder.Emit(packet, port, header.isResult ? below->second : *role.up, now);
    return true;
}

void
NetReduceNode::OnContribution(FabricPacket* packet, Job& job, uint32_t child, TimeStepCount now)
{
    const auto sequence = m_contents.Get(*packet).As<NetReduceHeader>().sequence;
    if (sequence != job.expected[child])
    {
        OnOtherThanNext(packet, job, child, now);
        return;
    }
    ++job.expected[child];
    Add(packet, job);
    job.GetEntry(sequence).held[child] = packet;
    const auto completed = *std::ranges::min_element(job.expected);
    if (completed == job.completed)
    {
        return;
    }
    job.completed = completed;
    if (!job.role.up)
    {
        job.answered = completed;
        Release(job, sequence, now);
        return;
    }
    const auto last = static_cast<uint32_t>(job.role.children.size() - 1);
    auto* partial = std::exchange(job.GetEntry(sequence).held[last], nullptr);
    Fill(*partial, job);
    SendOnward(partial, job, last, now);
}

/// Sent again, or too early.
void
NetReduceNode::OnOtherThanNext(FabricPacket* packet, Job& job, uint32_t child, TimeStepCount now)
{
    const auto sequence = m_contents.Get(*packet).As<NetReduceHeader>().sequence;
    const bool isForgotten = sequence + job.entries.size() < job.begun;
    if (sequence > job.expected[child] || isForgotten)
    {
        SendOnward(packet, job, child, now);
    }
    else if (sequence < job.answered || (sequence < job.completed && job.Leaves(child)))
    {
        ++m_repeatedResults;
        Fill(*packet, job);
        SendOnward(packet, job, child, now);
    }
    else
    {
        m_pool.Give(packet); // it is here already
    }
}

/// On the connection that enters the subtree, to the first child.
void
NetReduceNode::OnResult(FabricPacket* packet, Job& job, TimeStepCount now)
{
    auto& content = m_contents.Get(*packet);
    const auto sequence = content.As<NetReduceHeader>().sequence;
    const auto& first = job.role.children.front();
    content.As<NetReduceHeader>().child = first.worker;
    const bool isNext = sequence == job.answered && sequence < job.completed;
    if (isNext)
    {
        auto& entry = job.GetEntry(sequence);
        entry.sum = content.values;
        entry.hasOverflowed = content.As<NetReduceHeader>().hasOverflowed;
        ++job.answered;
    }
    m_forwarder.Emit(packet, packet->ingressPort, first.port, now);
    if (isNext)
    {
        Release(job, sequence, now);
    }
}

void
NetReduceNode::Add(FabricPacket* packet, Job& job)
{
    const auto& content = m_contents.Get(*packet);
    auto& entry = job.GetEntry(content.As<NetReduceHeader>().sequence);
    if (content.As<NetReduceHeader>().sequence == job.begun)
    {
        ++job.begun;
        entry.sum = content.values;
        entry.hasOverflowed = content.As<NetReduceHeader>().hasOverflowed;
        return;
    }
    entry.hasOverflowed |= content.As<NetReduceHeader>().hasOverflowed;
    if (m_computesSums && AddWrapping(entry.sum, content.values))
    {
        entry.hasOverflowed = true;
        ++m_overflows;
    }
}

/// All that wait for this sum go on with it.
void
NetReduceNode::Release(Job& job, uint64_t sequence, TimeStepCount now)
{
    auto& held = job.GetEntry(sequence).held;
    for (uint32_t child = 0; child < held.size(); ++child)
    {
        if (auto* packet = std::exchange(held[child], nullptr))
        {
            Fill(*packet, job);
            SendOnward(packet, job, child, now);
        }
    }
}

void
NetReduceNode::Fill(FabricPacket& packet, Job& job)
{
    auto& content = m_contents.Get(packet);
    const auto& entry = job.GetEntry(content.As<NetReduceHeader>().sequence);
    content.values = entry.sum;
    content.As<NetReduceHeader>().hasOverflowed = entry.hasOverflowed;
}

/// Along the ring, from a child.
void
NetReduceNode::SendOnward(FabricPacket* packet, const Job& job, uint32_t child, TimeStepCount now)
{
    auto& header = m_contents.Get(*packet).As<NetReduceHeader>();
    const auto ingress = packet->ingressPort;
    if (job.Leaves(child))
    {
        header.child = job.role.worker;
        m_forwarder.Emit(packet, ingress, *job.role.up, now);
        return;
    }
    const auto& next = job.role.children[(child + 1) % job.role.children.size()];
    header.isResult = true;
    header.child = next.worker;
    m_forwarder.Emit(packet, ingress, next.port, now);
}

} // namespace ns3::gradsync
