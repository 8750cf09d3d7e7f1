// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FABRIC_ENDPOINT_H
#define GRADSYNC_FABRIC_ENDPOINT_H

#include "ns3/fabric-node.h"
#include "ns3/fabric-port.h"
#include "ns3/packet-pool.h"

#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// Takes the packets that reach an endpoint: the transport.
class PacketReceiver
{
  public:
    /// A data or control packet for `endpoint`; the sink owns it now and gives it back to the pool.
    virtual void Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now) = 0;

    /// See FabricNode::PrefetchFor; the packet may be another sink's.
    virtual void PrefetchFor(const FabricPacket& /* packet */, uint32_t /* round */) const
    {
    }

  protected:
    ~PacketReceiver() = default;
};

/// A node that sends and receives for itself.
class FabricEndpoint final : public FabricNode
{
  public:
    FabricEndpoint(uint32_t endpoint, std::vector<FabricPort*> ports, PacketPool& pool)
        : m_endpoint(endpoint),
          m_ports(std::move(ports)),
          m_pool(pool)
    {
    }

    void SetSink(PacketReceiver* sink)
    {
        m_sink = sink;
    }

    PacketReceiver* GetSink() const
    {
        return m_sink;
    }

    size_t GetPortCount() const
    {
        return m_ports.size();
    }

    FabricPort& GetPort(uint16_t port)
    {
        return *m_ports[port];
    }

    void Receive(FabricPacket* packet, uint16_t port, TimeStepCount now) override
    {
        if (packet->kind == PacketKind::Pause || packet->kind == PacketKind::Resume)
        {
            m_ports[port]->SetPaused(packet->kind == PacketKind::Pause, now);
            m_pool.Give(packet);
            return;
        }
        m_sink->Receive(packet, m_endpoint, now);
    }

    const FabricPort* PrefetchFor(const FabricPacket& packet, uint32_t round) const override
    {
        if (packet.kind < PacketKind::Pause)
        {
            m_sink->PrefetchFor(packet, round);
        }
        return nullptr; // what an answer leaves by may be another one
    }

  private:
    uint32_t m_endpoint;
    PacketReceiver* m_sink{nullptr};
    std::vector<FabricPort*> m_ports;
    PacketPool& m_pool;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FABRIC_ENDPOINT_H
