// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_ARRIVALS_H
#define GRADSYNC_ROCE_ARRIVALS_H

#include "ns3/divided-transport.h"
#include "ns3/lazy-ports.h"
#include "ns3/port-observer.h"
#include "ns3/roce-connection-table.h"
#include "ns3/topology-division.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

namespace ns3::gradsync
{

class FabricNetwork;

/**
 * Tells handlers ahead when messages will be delivered: as soon as all their packets, and those of
 * the messages before on their connection, have left for the receiver by its links. Nothing can
 * happen to these any more: packets on a link arrive in their order, and where nothing is lost or
 * sent twice the receiver takes them as they come, in order or not.
 *
 * As departures are lazy, who needs to be told in time calls Depart.
 */
class RoceArrivals : private PacketTap
{
  public:
    /// Both must outlive it.
    RoceArrivals(FabricNetwork& fabric, const RoceConnectionTable& connections);
    RoceArrivals(const RoceArrivals&) = delete;
    RoceArrivals& operator=(const RoceArrivals&) = delete;

    /**
     * Watches what leaves for those of these endpoints that this process simulates, on links by
     * which something may come that is awaited.
     * \returns the least time from a start of a packet to its arrival, for all of them
     * \throws std::invalid_argument with a text for the user when a link comes from an endpoint,
     * which sends without events
     */
    Time Watch(const AwaitedEndpoints& endpoints, const TopologyDivision& division);

    /// Starts what should have started up to `now` on the links that are watched.
    void Depart(TimeStepCount now);

    /// When the next packet that waits for such a link starts, if nothing happens before;
    /// INT64_MAX: none waits for its turn alone. After Depart.
    TimeStepCount GetNextStart() const;

  private:
    /// When and by which port a packet arrives; of two at once the one of the lower port first.
    using Arrival = std::pair<TimeStepCount, uint32_t>;

    /// What has left for the receiver of a connection.
    struct Departed
    {
        uint32_t generation;
        uint32_t nextPsn;                  //!< all before have left
        Arrival last;                      //!< of these since it is watched, the last one
        std::map<uint32_t, Arrival> early; //!< by sequence numbers from nextPsn on
    };

    void WatchPort(uint32_t index, uint32_t endpoint);
    void OnPacket(uint32_t portIndex, const FabricPacket& packet, TimeStepCount start) override;
    void Pass(Departed& departed, const RoceQueuePair& queuePair, const Arrival& arrival);

    FabricNetwork& m_fabric;
    const RoceConnectionTable& m_connections;
    LazyPorts m_ports;
    std::unordered_map<uint32_t, uint32_t> m_endpointOf; //!< [port] whose packets are watched
    std::unordered_map<uint32_t, Departed> m_departed;   //!< [index of a queue pair]
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_ARRIVALS_H
