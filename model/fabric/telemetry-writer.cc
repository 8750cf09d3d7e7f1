// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/telemetry-writer.h"

#include "ns3/packet-pool.h"

namespace ns3::gradsync
{

void
TelemetryWriter::Write(const FabricPacket& packet,
                       uint32_t portIndex,
                       uint64_t sentWireBytes,
                       uint64_t queueBytes,
                       TimeStepCount start) const
{
    if (!m_pool || packet.kind != PacketKind::Data)
    {
        return; // a host's port, or an acknowledgement that takes the record home
    }
    auto& record = m_pool->GetTelemetry(packet);
    if (record.hopCount < TelemetryRecord::MAX_HOPS)
    {
        record.path = record.path * 0x9e3779b1U + portIndex + 1;
        record.hops[record.hopCount++] = {.bitRate = m_bitRate,
                                          .sentWireBytes = sentWireBytes,
                                          .queueBytes = queueBytes,
                                          .at = start};
    }
}

} // namespace ns3::gradsync
