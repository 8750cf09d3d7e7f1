// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/node-programs.h"

#include "ns3/aggregation-address.h"
#include "ns3/aggregation-driver.h"

#include <optional>
#include <utility>

namespace ns3::gradsync
{

NodePrograms::NodePrograms(AggregationHost& host, NodeId node)
    : m_host(host),
      m_node(node),
      m_contents(host.GetNetwork().contents),
      m_pool(host.GetNetwork().fabric->GetPool()),
      m_forwarder(host.GetNetwork().fabric->GetSwitch(node))
{
    m_forwarder->SetProgram(this);
}

NodePrograms::~NodePrograms() = default;

void
NodePrograms::SetLimits(const SwitchPipelines::Limits& limits)
{
    m_pipelines = std::make_unique<SwitchPipelines>(
        limits,
        m_node,
        [this](FabricPacket* packet, uint16_t port, TimeStepCount now) {
            if (!ProcessNow(packet, port, now))
            {
                m_forwarder->EmitTo(packet, port, now);
            }
        });
}

void
NodePrograms::SetUserProgram(std::unique_ptr<P4SwitchNode> program)
{
    m_user = std::move(program);
    m_user->Watch(*this);
}

AggregationNode*
NodePrograms::FindPart(uint8_t driver) const
{
    return driver < m_parts.size() ? m_parts[driver].get() : nullptr;
}

AggregationNode&
NodePrograms::AddPart(uint8_t driver, std::unique_ptr<AggregationNode> part)
{
    if (driver >= m_parts.size())
    {
        m_parts.resize(size_t{driver} + 1);
    }
    m_parts[driver] = std::move(part);
    return *m_parts[driver];
}

void
NodePrograms::LoseJobs()
{
    for (const auto& part : m_parts)
    {
        if (part)
        {
            part->LoseJobs();
        }
    }
}

void
NodePrograms::AddStatistics(AggregationStatistics& total) const
{
    for (const auto& part : m_parts)
    {
        if (part)
        {
            part->AddStatistics(total);
        }
    }
}

uint64_t
NodePrograms::GetStrays() const
{
    return m_user ? m_user->GetStrays() : 0;
}

bool
NodePrograms::Process(FabricPacket* packet, uint16_t port, TimeStepCount now)
{
    return (m_pipelines && EnterPipelines(packet, port)) || ProcessNow(packet, port, now);
}

bool
NodePrograms::ProcessNow(FabricPacket* packet, uint16_t port, TimeStepCount now)
{
    if (m_user)
    {
        return m_user->Process(packet, port, now) || GiveUp(packet);
    }
    auto* part = FindPart(m_contents.Get(*packet).driver);
    return (part && part->Process(packet, port, now)) || GiveUp(packet);
}

bool
NodePrograms::Depart(FabricPacket* packet, TimeStepCount start)
{
    return !m_user || m_user->Depart(packet, start);
}

/// A packet that nobody here takes goes to its destination, if it has one.
bool
NodePrograms::GiveUp(FabricPacket* packet)
{
    if (packet->destination == AggregationAddress::NO_ENDPOINT)
    {
        m_pool.Give(packet); // nobody here knows where it is to go
        return true;
    }
    return false;
}

/// False for a packet that is only forwarded here.
bool
NodePrograms::EnterPipelines(FabricPacket* packet, uint16_t port)
{
    if ((packet->flags & PacketFlag::PROGRAM) == 0)
    {
        // No packet of a protocol of switches: values and place are unknown.
        const bool isTaken = m_user && m_user->Takes(*packet);
        if (isTaken)
        {
            m_pipelines->Enter(packet, port, 0, std::nullopt);
        }
        return isTaken;
    }
    const auto& content = m_contents.Get(*packet);
    const auto* driver = m_host.FindDriver(content.driver);
    const auto* part = FindPart(content.driver);
    const bool passes = m_user ? m_user->Takes(*packet) : part && part->Concerns(content);
    if (passes)
    {
        m_pipelines->Enter(packet,
                           port,
                           driver ? driver->CountValues(content) : 0,
                           part ? part->FindPlace(content) : std::nullopt);
    }
    return passes;
}

} // namespace ns3::gradsync
