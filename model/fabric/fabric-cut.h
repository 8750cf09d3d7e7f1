// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FABRIC_CUT_H
#define GRADSYNC_FABRIC_CUT_H

#include "ns3/lazy-ports.h"
#include "ns3/outgoing-batch.h"
#include "ns3/packet-pool.h"
#include "ns3/port-observer.h"
#include "ns3/telemetry-record.h"
#include "ns3/topology-division.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ns3::gradsync
{

class FabricNetwork;

/**
 * The links of a network whose ends are simulated by different processes. Each process has the
 * whole network and lets only its own nodes act: a packet that starts on such a link goes to the
 * process of the far end, which puts it on its own copy of the wire.
 *
 * As departures are lazy, a packet is known to its sender when it starts, or when Depart has
 * brought the ports up to date. Those that start later arrive later than that by more than the
 * delay of the link.
 */
class FabricCut : private PacketTaker
{
  public:
    /// \param network,topology installed; must outlive the cut
    FabricCut(FabricNetwork& network, const Topology& topology, const TopologyDivision& division);
    FabricCut(const FabricCut&) = delete;
    FabricCut& operator=(const FabricCut&) = delete;

    /// Starts what should have started up to `now` on the links that leave this process.
    void Depart(TimeStepCount now);

    /// When the first of the packets arrives that have started and not been taken; INT64_MAX: there
    /// is none.
    TimeStepCount GetFirstArrival() const;

    /// When the next one starts that waits, if nothing happens before; INT64_MAX: none waits for
    /// its turn alone. After Depart.
    TimeStepCount GetNextStart() const;

    /// Whether a packet has started on the way to a process.
    bool HasFor(uint32_t part) const
    {
        return !m_outgoing[part].packets.IsEmpty();
    }

    /// Moves the packets that have started on the way to a process to the end of a batch, which
    /// refers to them until the next call.
    void Take(uint32_t part, OutgoingBatch& batch);

    /// Puts packets of another process on their wires. \param batch as of Take \param now the time
    /// of the simulator, not after any of their arrivals
    void Put(BatchReader& batch, TimeStepCount now);

  private:
    void TakeOver(uint32_t portIndex, FabricPacket* packet) override;

    /// A packet as it crosses: what it has on the wire.
    struct Crossing
    {
        PacketFields fields;
        TimeStepCount arrival;
        uint32_t port;
        uint32_t returns; //!< of the link, when it started
    };

    /// What has started on the way to a process and is not taken yet.
    struct Outgoing
    {
        ChunkedList<Crossing> packets;
        ChunkedList<Crossing> taken;            //!< by the last Take
        std::vector<TelemetryRecord> telemetry; //!< of those that have some, in their order
        ByteBatch contents;                     //!< likewise, of those for programs of switches
        TimeStepCount firstArrival{INT64_MAX};
    };

    void TakeRecord(const FabricPacket& packet, Outgoing& outgoing) const;

    FabricNetwork& m_network;
    PacketPool& m_pool;
    LazyPorts m_leaving;              //!< ports whose packets leave this process
    std::vector<uint32_t> m_partOf;   //!< [port] -> process at its far end
    std::vector<Outgoing> m_outgoing; //!< [process]
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FABRIC_CUT_H
