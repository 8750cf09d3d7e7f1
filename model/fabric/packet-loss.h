// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PACKET_LOSS_H
#define GRADSYNC_PACKET_LOSS_H

#include "ns3/fabric-packet.h"
#include "ns3/object-pool.h"
#include "ns3/random-variable-stream.h"

namespace ns3::gradsync
{

/**
 * Independent random loss of packets on Ethernet links (bit errors). Ports without loss have none
 * of these and draw no random number. PFC frames are spared: real ports repeat them, ours are sent
 * once.
 */
class PacketLoss
{
  public:
    /// \param rate probability in [0, 1]; \param stream random number stream, see
    /// RandomVariableStream
    PacketLoss(double rate, int64_t stream, ObjectPool<FabricPacket>& pool)
        : m_rate(rate),
          m_random(CreateObject<UniformRandomVariable>()),
          m_pool(pool)
    {
        m_random->SetStream(stream);
    }

    /// Draws for one packet.
    bool IsLost(const FabricPacket& packet)
    {
        const bool isPfc = packet.kind == PacketKind::Pause || packet.kind == PacketKind::Resume;
        return !isPfc && m_random->GetValue() < m_rate;
    }

    /// Takes a lost packet out of the world.
    void Discard(FabricPacket* packet)
    {
        m_pool.Give(packet);
    }

  private:
    double m_rate;
    Ptr<UniformRandomVariable> m_random;
    ObjectPool<FabricPacket>& m_pool;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PACKET_LOSS_H
