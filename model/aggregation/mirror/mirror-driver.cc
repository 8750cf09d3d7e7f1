// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/mirror-driver.h"

#include "ns3/uinteger.h"

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(MirrorDriver);

TypeId
MirrorDriver::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::MirrorDriver")
            .SetParent<AggregationDriver>()
            .SetGroupName("GradSync")
            .AddConstructor<MirrorDriver>()
            .AddAttribute("Slots",
                          "Slots of each set that an aggregation gets at every switch.",
                          UintegerValue(128),
                          MakeUintegerAccessor(&MirrorDriver::m_slots),
                          MakeUintegerChecker<uint32_t>(1, 4096));
    return tid;
}

/// Packets name the mirror, which hands them on to slots of its own.
void
MirrorDriver::DoInstall()
{
    m_protocol = CreateObject<SlotDriver>();
    m_protocol->SetAttribute("Slots", UintegerValue(m_slots));
    m_protocol->Install(GetHost(), GetNumber());
}

void
MirrorDriver::DoDispose()
{
    if (m_protocol)
    {
        m_protocol->Dispose();
        m_protocol = nullptr;
    }
    AggregationDriver::DoDispose();
}

void
MirrorDriver::Check(const AggregationGroup& group) const
{
    m_protocol->Check(group);
}

std::unique_ptr<AggregationSession>
MirrorDriver::MakeSession(const AggregationGroup& group, uint32_t id)
{
    return m_protocol->MakeSession(group, id);
}

std::unique_ptr<AggregationNode>
MirrorDriver::MakeNode(NodeId node)
{
    return m_protocol->MakeNode(node);
}

void
MirrorDriver::Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now)
{
    m_protocol->Receive(packet, endpoint, now);
}

uint32_t
MirrorDriver::CountValues(const AggregationPacket& content) const
{
    return m_protocol->CountValues(content);
}

std::vector<uint8_t>
MirrorDriver::MakeFrame(const FabricPacket& packet, NodeId sender, NodeId receiver)
{
    return m_protocol->MakeFrame(packet, sender, receiver);
}

} // namespace ns3::gradsync
