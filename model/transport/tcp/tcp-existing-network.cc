// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/tcp-existing-network.h"

#include "ns3/channel.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/ppp-header.h"
#include "ns3/queue-disc.h"
#include "ns3/queue.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/traffic-control-layer.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

using TcpEnd = std::pair<Ipv4Address, uint16_t>;

constexpr uint16_t PPP_IPV4 = 0x0021; //!< RFC 1332

} // namespace

/// Counts what connections of the transport do in one direction of a link.
class TcpExistingNetwork::PortProbe
{
  public:
    PortProbe(const std::vector<TcpEnd>& listeners,
              LinkStatistics& statistics,
              uint64_t& dataPacketHops)
        : m_listeners(listeners),
          m_statistics(statistics),
          m_dataPacketHops(dataPacketHops)
    {
    }

    // ns-3's trace sources fix the types of these parameters.
    // NOLINTBEGIN(performance-unnecessary-value-param)
    void OnTransmit(Ptr<const Packet> packet)
    {
        if (const auto payload = FindPayload(packet))
        {
            ++m_statistics.packets;
            m_statistics.payloadBytes += *payload;
            m_statistics.wireBytes += packet->GetSize();
            m_dataPacketHops += *payload > 0 ? 1 : 0;
        }
    }

    void OnPacketDrop(Ptr<const Packet> packet)
    {
        m_statistics.droppedPackets += FindPayload(packet) ? 1 : 0;
    }

    void OnItemDrop(Ptr<const QueueDiscItem> item)
    {
        m_statistics.droppedPackets += IsOfTransport(item) ? 1 : 0;
    }

    void OnItemMark(Ptr<const QueueDiscItem> item, const char* /* reason */)
    {
        m_statistics.ecnMarkedPackets += IsOfTransport(item) ? 1 : 0;
    }

    // NOLINTEND(performance-unnecessary-value-param)

    /// Whoever's they are.
    void OnQueue(uint32_t /* before */, uint32_t now)
    {
        m_statistics.maxQueueBytes = std::max<uint64_t>(m_statistics.maxQueueBytes, now);
    }

  private:
    /// Of a segment of the transport, the bytes behind its headers.
    std::optional<uint32_t> FindPayload(const Ptr<const Packet>& frame) const
    {
        const auto packet = frame->Copy();
        PppHeader ppp;
        packet->RemoveHeader(ppp);
        Ipv4Header ip;
        if (ppp.GetProtocol() != PPP_IPV4)
        {
            return std::nullopt;
        }
        packet->RemoveHeader(ip);
        return FindPayload(ip, packet);
    }

    /// \param packet behind its IPv4 header, which is taken apart
    std::optional<uint32_t> FindPayload(const Ipv4Header& ip, const Ptr<Packet>& packet) const
    {
        if (ip.GetProtocol() != TcpL4Protocol::PROT_NUMBER || ip.GetFragmentOffset() > 0)
        {
            return std::nullopt;
        }
        TcpHeader tcp;
        packet->RemoveHeader(tcp);
        const TcpEnd source{ip.GetSource(), tcp.GetSourcePort()};
        const TcpEnd destination{ip.GetDestination(), tcp.GetDestinationPort()};
        const bool isOwn = std::ranges::binary_search(m_listeners, source) ||
                           std::ranges::binary_search(m_listeners, destination);
        return isOwn ? std::optional(packet->GetSize()) : std::nullopt;
    }

    bool IsOfTransport(const Ptr<const QueueDiscItem>& item) const
    {
        const auto ip = DynamicCast<const Ipv4QueueDiscItem>(item);
        return ip && FindPayload(ip->GetHeader(), ip->GetPacket()->Copy());
    }

    const std::vector<TcpEnd>& m_listeners;
    LinkStatistics& m_statistics;
    uint64_t& m_dataPacketHops;
};

TcpExistingNetwork::TcpExistingNetwork(const ExistingNetwork& network)
    : TcpNetwork(network.topology),
      m_hosts(network.hosts)
{
    for (size_t index = 0; index < network.devices.size(); ++index)
    {
        auto& probe = m_probes.emplace_back(
            std::make_unique<PortProbe>(m_listeners, m_statistics[index], m_dataPacketHops));
        if (const auto& sender = network.devices[index])
        {
            Watch(index, sender);
            network.devices[index ^ 1]->TraceConnectWithoutContext(
                "PhyRxDrop",
                MakeCallback(&PortProbe::OnPacketDrop, probe.get()));
        }
    }
}

TcpExistingNetwork::~TcpExistingNetwork() = default;

void
TcpExistingNetwork::Watch(size_t index, const Ptr<PointToPointNetDevice>& sender)
{
    auto* probe = m_probes[index].get();
    sender->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&PortProbe::OnTransmit, probe));
    sender->TraceConnectWithoutContext("MacTxDrop", MakeCallback(&PortProbe::OnPacketDrop, probe));
    const auto control = sender->GetNode()->GetObject<TrafficControlLayer>();
    const auto queueDisc = control ? control->GetRootQueueDiscOnDevice(sender) : nullptr;
    if (!queueDisc)
    {
        sender->GetQueue()->TraceConnectWithoutContext("BytesInQueue",
                                                       MakeCallback(&PortProbe::OnQueue, probe));
        return;
    }
    queueDisc->TraceConnectWithoutContext("BytesInQueue", MakeCallback(&PortProbe::OnQueue, probe));
    queueDisc->TraceConnectWithoutContext("Drop", MakeCallback(&PortProbe::OnItemDrop, probe));
    queueDisc->TraceConnectWithoutContext("Mark", MakeCallback(&PortProbe::OnItemMark, probe));
}

Ptr<Node>
TcpExistingNetwork::GetNode(uint32_t endpoint) const
{
    return m_hosts[endpoint].node;
}

Ipv4Address
TcpExistingNetwork::GetAddress(uint32_t endpoint) const
{
    return m_hosts[endpoint].address;
}

std::string
TcpExistingNetwork::GetName(uint32_t endpoint) const
{
    return m_hosts[endpoint].name;
}

uint16_t
TcpExistingNetwork::GetListeningPort() const
{
    return 0;
}

void
TcpExistingNetwork::OnListening(uint32_t endpoint, uint16_t port)
{
    const TcpEnd end{m_hosts[endpoint].address, port};
    m_listeners.insert(std::ranges::upper_bound(m_listeners, end), end);
}

void
TcpExistingNetwork::Capture(LinkId /* link */, const std::string& /* folder */)
{
    throw std::invalid_argument("the links are of a network that the program has built: capture "
                                "them with PointToPointHelper");
}

} // namespace ns3::gradsync
