// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/atp-node.h"

#include "ns3/packet-copy.h"

namespace ns3::gradsync
{

AtpNode::AtpNode(FabricSwitch& forwarder,
                 PacketPool& pool,
                 AggregationContents& contents,
                 const AtpSwitch::Config& config)
    : m_forwarder(forwarder),
      m_pool(pool),
      m_contents(contents),
      m_switch(config)
{
}

void
AtpNode::AddJob(uint16_t job, const Role& role)
{
    m_jobs.emplace(job, role);
}

void
AtpNode::RemoveJob(uint16_t job)
{
    m_jobs.erase(job);
}

void
AtpNode::LoseJobs()
{
    m_jobs.clear();
    m_switch.Clear();
}

bool
AtpNode::Concerns(const AggregationPacket& packet) const
{
    const auto& header = packet.As<AtpHeader>();
    return header.stage != AtpStage::WorkerResult && m_jobs.contains(header.job);
}

std::optional<uint32_t>
AtpNode::FindPlace(const AggregationPacket& packet) const
{
    return m_switch.FindPlace(packet.As<AtpHeader>());
}

void
AtpNode::AddStatistics(AggregationStatistics& total) const
{
    total.overflows += m_switch.GetOverflows();
    total.collisions += m_switch.GetCollisions();
}

bool
AtpNode::Process(FabricPacket* packet, uint16_t port, TimeStepCount now)
{
    const auto& header = m_contents.Get(*packet).As<AtpHeader>();
    const auto found = m_jobs.find(header.job);
    if (found == m_jobs.end())
    {
        return false;
    }
    const auto& role = found->second;
    switch (header.stage)
    {
    case AtpStage::Data:
        return OnData(packet, role);
    case AtpStage::Result:
        if (!role.isServerSide)
        {
            return false;
        }
        break;
    case AtpStage::RackResult:
        if (role.workers.empty() || role.workers.front() != packet->destination)
        {
            return false; // it only passes
        }
        break;
    case AtpStage::WorkerResult:
        return false;
    }
    Answer(packet, port, role, now);
    return true;
}

bool
AtpNode::OnData(FabricPacket* packet, const Role& role)
{
    auto& content = m_contents.Get(*packet);
    auto& header = content.As<AtpHeader>();
    header.isCongested |= (packet->flags & PacketFlag::CONGESTION_EXPERIENCED) != 0;
    const auto verdict = m_switch.Contribute(role.all, header, content.values);
    if (verdict == AtpVerdict::Held || verdict == AtpVerdict::Dropped)
    {
        m_pool.Give(packet);
        return true;
    }
    return false; // on to the server
}

void
AtpNode::Answer(FabricPacket* packet, uint16_t port, const Role& role, TimeStepCount now)
{
    m_switch.Free(m_contents.Get(*packet).As<AtpHeader>());
    for (const auto endpoint : role.workers)
    {
        SendCopy(*packet, AtpStage::WorkerResult, endpoint, port, now);
    }
    if (m_contents.Get(*packet).As<AtpHeader>().stage == AtpStage::Result)
    {
        for (const auto endpoint : role.racks)
        {
            SendCopy(*packet, AtpStage::RackResult, endpoint, port, now);
        }
    }
    m_pool.Give(packet);
}

void
AtpNode::SendCopy(const FabricPacket& packet,
                  AtpStage stage,
                  uint32_t endpoint,
                  uint16_t port,
                  TimeStepCount now)
{
    auto* copy = CopyPacket<AtpHeader>(m_pool, m_contents, packet);
    auto& content = m_contents.Get(*copy);
    content.As<AtpHeader>().stage = stage;
    content.values = m_contents.Get(packet).values;
    copy->destination = endpoint;
    m_forwarder.EmitTo(copy, port, now);
}

} // namespace ns3::gradsync
