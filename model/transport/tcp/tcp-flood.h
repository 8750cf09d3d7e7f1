// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TCP_FLOOD_H
#define GRADSYNC_TCP_FLOOD_H

#include "ns3/flood-clock.h"
#include "ns3/net-device.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"
#include "ns3/tag.h"

namespace ns3
{
class TrafficControlLayer;
}

namespace ns3::gradsync
{

/// Marks the packets of a flood.
class TcpFloodTag : public Tag
{
  public:
    static TypeId GetTypeId();
    TypeId GetInstanceTypeId() const override;
    uint32_t GetSerializedSize() const override;
    void Serialize(TagBuffer buffer) const override;
    void Deserialize(TagBuffer buffer) override;
    void Print(std::ostream& stream) const override;

    static bool IsOn(const Ptr<const Packet>& packet);
};

/// Foreign IPv4 packets of 1500 bytes at a constant rate into one direction of a link. They take
/// their turn in its queue disc and queue; whoever receives them throws them away.
class TcpFlood
{
  public:
    TcpFlood(const Ptr<TrafficControlLayer>& queue, const Ptr<NetDevice>& device);

    /// From now on; 0: nothing. \param bitRate on the wire, headers included
    void SetBitRate(double bitRate);

  private:
    void Send();

    Ptr<TrafficControlLayer> m_queue;
    Ptr<NetDevice> m_device;
    FloodClock m_clock;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TCP_FLOOD_H
