// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/tcp-flood.h"

#include "ns3/ipv4-header.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/udp-l4-protocol.h"

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(TcpFloodTag);

namespace
{
constexpr uint32_t PACKET_BYTES = 1500; //!< on the wire: PPP 2, IPv4 20, the rest whatever it is
constexpr uint32_t TRAFFIC_HEADER_BYTES = 22;
} // namespace

TypeId
TcpFloodTag::GetTypeId()
{
    static TypeId tid = TypeId("ns3::gradsync::TcpFloodTag")
                            .SetParent<Tag>()
                            .SetGroupName("GradSync")
                            .AddConstructor<TcpFloodTag>();
    return tid;
}

TypeId
TcpFloodTag::GetInstanceTypeId() const
{
    return GetTypeId();
}

uint32_t
TcpFloodTag::GetSerializedSize() const
{
    return 0;
}

void
TcpFloodTag::Serialize(TagBuffer /* buffer */) const
{
}

void
TcpFloodTag::Deserialize(TagBuffer /* buffer */)
{
}

void
TcpFloodTag::Print(std::ostream& stream) const
{
    stream << "flood";
}

bool
TcpFloodTag::IsOn(const Ptr<const Packet>& packet)
{
    TcpFloodTag tag;
    return packet->PeekPacketTag(tag);
}

TcpFlood::TcpFlood(const Ptr<TrafficControlLayer>& queue, const Ptr<NetDevice>& device)
    : m_queue(queue),
      m_device(device),
      m_clock(PACKET_BYTES, [this] { Send(); })
{
}

void
TcpFlood::SetBitRate(double bitRate)
{
    m_clock.SetBitRate(bitRate);
}

void
TcpFlood::Send()
{
    const auto packet = Create<Packet>(PACKET_BYTES - TRAFFIC_HEADER_BYTES);
    packet->AddPacketTag(TcpFloodTag());
    Ipv4Header header;
    header.SetPayloadSize(static_cast<uint16_t>(packet->GetSize()));
    header.SetProtocol(UdpL4Protocol::PROT_NUMBER);
    header.SetTtl(1);
    m_queue->Send(m_device,
                  Create<Ipv4QueueDiscItem>(packet,
                                            m_device->GetBroadcast(),
                                            Ipv4L3Protocol::PROT_NUMBER,
                                            header));
}

} // namespace ns3::gradsync
