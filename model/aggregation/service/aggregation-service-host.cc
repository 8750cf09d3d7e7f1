// SPDX-License-Identifier: GPL-2.0-only
// The part of AggregationService that serves the drivers of protocols.
#include "ns3/aggregation-address.h"
#include "ns3/aggregation-service.h"
#include "ns3/roce-transport.h"
#include "ns3/udp-frame.h"

#include <algorithm>
#include <stdexcept>

namespace ns3::gradsync
{

AggregationNetwork&
AggregationService::GetNetwork()
{
    return m_network;
}

AggregationDriver*
AggregationService::FindDriver(uint8_t number)
{
    return number < m_drivers.size() ? PeekPointer(m_drivers[number].object) : nullptr;
}

void
AggregationService::TakeNumber(AggregationSession& session)
{
    if (FindSession(session.GetNumber()) == &session)
    {
        m_byNumber.erase(session.GetNumber());
    }
    if (m_byNumber.size() > UINT16_MAX)
    {
        throw std::invalid_argument("more than 65536 aggregations at a time");
    }
    while (m_byNumber.contains(m_nextNumber))
    {
        ++m_nextNumber;
    }
    session.SetNumber(m_nextNumber++);
    m_byNumber[session.GetNumber()] = &session;
    m_endpoints[session.GetNumber()] = session.GetEndpoints();
}

AggregationSession*
AggregationService::FindSession(uint16_t number)
{
    const auto found = m_byNumber.find(number);
    return found == m_byNumber.end() ? nullptr : found->second;
}

const std::vector<uint32_t>*
AggregationService::FindEndpoints(uint16_t number) const
{
    const auto found = m_endpoints.find(number);
    return found == m_endpoints.end() ? nullptr : found->second.get();
}

uint32_t
AggregationService::TakeTurn()
{
    return m_nextTurn++;
}

void
AggregationService::TakeSink(uint32_t endpoint)
{
    if (!m_sinks.contains(endpoint))
    {
        m_sinks[endpoint] = m_network.fabric->GetSink(endpoint);
        m_network.fabric->SetSink(endpoint, this);
    }
}

PacketReceiver&
AggregationService::GetSink(uint32_t endpoint)
{
    return *m_sinks.at(endpoint);
}

void
AggregationService::Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now)
{
    if ((packet->flags & PacketFlag::PROGRAM) == 0)
    {
        GetSink(endpoint).Receive(packet, endpoint, now);
    }
    else if (auto* driver = FindDriver(m_network.contents.Get(*packet).driver))
    {
        driver->Receive(packet, endpoint, now);
    }
    else
    {
        m_network.fabric->GetPool().Give(packet);
    }
}

/// Whether switches take time to add.
bool
AggregationService::HasLimits() const
{
    return m_pipelinePacketRate > 0.0 || m_processingDelay.IsStrictlyPositive();
}

NodePrograms&
AggregationService::GetPrograms(NodeId node)
{
    AggregationHost& host = *this;
    const auto [found, isNew] = m_programs.try_emplace(node, host, node);
    if (isNew && HasLimits() && m_network.topology->GetNodes()[node].kind == NodeKind::Switch)
    {
        if (m_pipelinePacketRate > 0.0 && m_pipelinePacketRate < 1.0)
        {
            throw std::invalid_argument("attribute PipelinePacketRate must be 0 or at least 1");
        }
        const auto gap = m_pipelinePacketRate > 0.0 ? Seconds(1.0 / m_pipelinePacketRate) : Time(0);
        found->second.SetLimits({m_pipelines, gap, m_valuesPerPass, m_processingDelay});
    }
    return found->second;
}

AggregationNode&
AggregationService::GetNode(AggregationDriver& driver, NodeId node)
{
    auto& programs = GetPrograms(node);
    auto* part = programs.FindPart(driver.GetNumber());
    return part ? *part : programs.AddPart(driver.GetNumber(), driver.MakeNode(node));
}

const AggregationNode*
AggregationService::FindPart(NodeId node, const std::string& driver) const
{
    const auto found = m_programs.find(node);
    const auto object = GetDriver(driver);
    return found == m_programs.end() || !object ? nullptr
                                                : found->second.FindPart(object->GetNumber());
}

std::vector<uint8_t>
AggregationService::MakeFrame(const FabricPacket& packet, NodeId sender, NodeId receiver)
{
    if ((packet.flags & PacketFlag::PROGRAM) == 0)
    {
        return m_network.transport ? m_network.transport->MakeFrame(packet, sender, receiver)
                                   : std::vector<uint8_t>();
    }
    const auto& content = m_network.contents.Get(packet);
    if (content.frame.empty())
    {
        auto* driver = FindDriver(content.driver);
        return driver ? driver->MakeFrame(packet, sender, receiver) : std::vector<uint8_t>();
    }
    auto frame = content.frame;
    if (sender != content.framedBy && frame.size() >= 2 * sizeof(FrameAddress::mac))
    {
        // Nodes that hand on change MAC addresses and nothing else.
        std::ranges::copy(AggregationAddress::MakeMac(receiver), frame.begin());
        std::ranges::copy(AggregationAddress::MakeMac(sender),
                          frame.begin() + sizeof(FrameAddress::mac));
    }
    return frame;
}

void
AggregationService::ReadFrame(std::span<const uint8_t> frame, AggregationPacket& content)
{
    content.driver = AggregationPacket::NO_DRIVER;
    for (const auto& driver : m_drivers)
    {
        if (driver.object->ReadFrame(frame, content))
        {
            return;
        }
    }
}

} // namespace ns3::gradsync
