// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PACKET_LOSS_H
#define GRADSYNC_PACKET_LOSS_H

#include "ns3/fabric-packet.h"
#include "ns3/packet-pool.h"
#include "ns3/random-variable-stream.h"

namespace ns3::gradsync
{

/// Takes packets off the wire of one or more ports. Ports without loss have none of these.
class PacketLoss
{
  public:
    virtual ~PacketLoss() = default;

    /// Decides for one packet when its last bit would be at the far end, in the order of the wire.
    virtual bool IsLost(const FabricPacket& packet) = 0;

    /// Takes a lost packet out of the world.
    void Discard(FabricPacket* packet)
    {
        m_pool.Give(packet);
    }

  protected:
    explicit PacketLoss(PacketPool& pool)
        : m_pool(pool)
    {
    }

    /// Random losses spare PFC frames: real ports repeat them, ours are sent once.
    static bool IsPfc(const FabricPacket& packet)
    {
        return packet.kind == PacketKind::Pause || packet.kind == PacketKind::Resume;
    }

  private:
    PacketPool& m_pool;
};

/// Independent random loss of the packets of one port of an Ethernet link (bit errors).
class RandomLoss final : public PacketLoss
{
  public:
    /// \param rate probability in [0, 1]; \param stream random number stream, see
    /// RandomVariableStream
    RandomLoss(double rate, int64_t stream, PacketPool& pool)
        : PacketLoss(pool),
          m_rate(rate),
          m_stream(stream)
    {
    }

    bool IsLost(const FabricPacket& packet) override
    {
        return !IsPfc(packet) && Draw() < m_rate;
    }

  private:
    double Draw()
    {
        if (!m_random)
        {
            m_random = CreateObject<UniformRandomVariable>();
            m_random->SetStream(m_stream);
        }
        return m_random->GetValue();
    }

    double m_rate;
    int64_t m_stream;
    Ptr<UniformRandomVariable> m_random; //!< null until it draws first
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PACKET_LOSS_H
