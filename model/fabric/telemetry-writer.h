// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TELEMETRY_WRITER_H
#define GRADSYNC_TELEMETRY_WRITER_H

#include "ns3/data-rate.h"
#include "ns3/telemetry-record.h"

#include <cstdint>

namespace ns3::gradsync
{

class PacketPool;

/// Writes what a port knows into the packets that ask for it. Ports of hosts write nothing.
class TelemetryWriter
{
  public:
    /// \param pool where the records of packets are; until this is called, nothing is written
    void Install(PacketPool* pool)
    {
        m_pool = pool;
    }

    /// The rate of the link.
    void SetRate(const DataRate& rate)
    {
        m_bitRate = static_cast<double>(rate.GetBitRate());
    }

    /// \param packet with PacketFlag::TELEMETRY \param sentWireBytes,queueBytes of the port, when
    /// the packet starts
    void Write(const FabricPacket& packet,
               uint32_t portIndex,
               uint64_t sentWireBytes,
               uint64_t queueBytes,
               TimeStepCount start) const;

  private:
    PacketPool* m_pool{nullptr};
    double m_bitRate{0.0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TELEMETRY_WRITER_H
