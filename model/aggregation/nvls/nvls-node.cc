// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/nvls-node.h"

#include "ns3/float-sum.h"
#include "ns3/packet-copy.h"
#include "ns3/wrapping-sum.h"

#include <utility>

namespace ns3::gradsync
{

NvlsNode::NvlsNode(FabricSwitch& forwarder,
                   PacketPool& pool,
                   AggregationContents& contents,
                   bool addsFloats)
    : m_forwarder(forwarder),
      m_pool(pool),
      m_contents(contents),
      m_addsFloats(addsFloats)
{
}

void
NvlsNode::AddJob(uint16_t number, Job job)
{
    m_jobs.insert_or_assign(number, JobState{std::move(job), {}});
}

void
NvlsNode::RemoveJob(uint16_t number)
{
    m_jobs.erase(number);
}

void
NvlsNode::LoseJobs()
{
    m_jobs.clear();
}

bool
NvlsNode::Concerns(const AggregationPacket& packet) const
{
    return m_jobs.contains(packet.As<NvlsHeader>().job);
}

std::optional<uint32_t>
NvlsNode::FindPlace(const AggregationPacket& /* packet */) const
{
    return std::nullopt;
}

void
NvlsNode::AddStatistics(AggregationStatistics& total) const
{
    total.repeatedResults += m_repeated;
    total.staleDrops += m_stale;
    total.overflows += m_overflows;
}

bool
NvlsNode::Process(FabricPacket* packet, uint16_t port, TimeStepCount now)
{
    const auto& header = m_contents.Get(*packet).As<NvlsHeader>();
    const auto found = m_jobs.find(header.job);
    if (found == m_jobs.end() || header.stage == NvlsStage::Result)
    {
        m_pool.Give(packet); // of a job that is over, or that went to another switch
        return true;
    }
    if (header.stage == NvlsStage::Request)
    {
        OnRequest(packet, found->second, port, now);
    }
    else
    {
        OnAnswer(packet, found->second, port, now);
    }
    return true;
}

/// The packet becomes the last of the copies.
void
NvlsNode::OnRequest(FabricPacket* packet, JobState& state, uint16_t port, TimeStepCount now)
{
    const auto members = static_cast<uint32_t>(state.job.members.size());
    const auto sequence = m_contents.Get(*packet).As<NvlsHeader>().sequence;
    const auto [entry, isNew] = state.entries.insert_or_assign(
        sequence,
        Entry{std::vector<bool>(members, false), members, {}, false});
    m_repeated += isNew ? 0 : 1;
    for (uint32_t member = 0; member < members; ++member)
    {
        SendTo(member + 1 < members ? Copy(*packet) : packet, state, member, port, now);
    }
}

FabricPacket*
NvlsNode::Copy(const FabricPacket& packet)
{
    auto* copy = CopyPacket<NvlsHeader>(m_pool, m_contents, packet);
    m_contents.Get(*copy).values = m_contents.Get(packet).values;
    return copy;
}

void
NvlsNode::SendTo(FabricPacket* packet,
                 const JobState& state,
                 uint32_t member,
                 uint16_t ingress,
                 TimeStepCount now)
{
    m_contents.Get(*packet).As<NvlsHeader>().member = static_cast<uint16_t>(member);
    const auto& to = state.job.members[member];
    packet->destination = to.endpoint;
    m_forwarder.Emit(packet, ingress, to.port, now);
}

void
NvlsNode::OnAnswer(FabricPacket* packet, JobState& state, uint16_t port, TimeStepCount now)
{
    auto& content = m_contents.Get(*packet);
    auto& header = content.As<NvlsHeader>();
    const auto found = state.entries.find(header.sequence);
    if (found == state.entries.end() || found->second.answered.at(header.member))
    {
        ++m_stale;
        m_pool.Give(packet);
        return;
    }
    auto& entry = found->second;
    entry.answered[header.member] = true;
    if (state.job.sums)
    {
        Add(content, entry);
    }
    if (--entry.missing > 0)
    {
        m_pool.Give(packet);
        return;
    }
    header.stage = NvlsStage::Result;
    header.hasOverflowed = entry.hasOverflowed;
    content.values = std::move(entry.sum);
    state.entries.erase(found);
    SendTo(packet, state, state.job.root, port, now);
}

void
NvlsNode::Add(const AggregationPacket& content, Entry& entry)
{
    if (entry.missing == entry.answered.size()) // the first
    {
        entry.sum = content.values;
    }
    else if (m_addsFloats)
    {
        AddFloats(entry.sum, content.values);
    }
    else if (AddWrapping(entry.sum, content.values))
    {
        entry.hasOverflowed = true;
        ++m_overflows;
    }
}

} // namespace ns3::gradsync
