// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NETWORK_READER_H
#define GRADSYNC_NETWORK_READER_H

#include "ns3/ipv4-address.h"
#include "ns3/node-container.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/topology.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// A host of a network that a program has built with ns-3's own helpers.
struct ExistingHost
{
    Ptr<Node> node;
    Ipv4Address address; //!< the first of its first point-to-point device with one
    std::string name;    //!< "node 3 (10.1.1.2)": for messages to the user
};

/// A network that a program has built, with what joins its hosts as a Topology.
struct ExistingNetwork
{
    std::shared_ptr<const Topology> topology;
    std::vector<ExistingHost> hosts; //!< [endpoint]
    /// [2 * link + direction]: the sender; null for a link that is inside a host.
    std::vector<Ptr<PointToPointNetDevice>> devices;
};

/**
 * Reads a network off its Nodes: all that point-to-point links lead to from the hosts.
 *
 * Hosts are endpoints, all other Nodes switches of the tier that their distance from the nearest
 * host gives: 1 where a host is linked to them. Endpoints of a Topology do not forward, as Nodes of
 * ns-3 do: a host with several links, or with one to another host, is an endpoint behind a switch
 * of its own, and the link between these two, inside the host, as fast as all its others together.
 *
 * \param hosts in the order of the endpoints
 * \throws std::invalid_argument with a text for the user when a host is there twice, has no
 * Internet stack or no address, or does not reach the others by point-to-point links
 */
ExistingNetwork ReadNetwork(const NodeContainer& hosts);

} // namespace ns3::gradsync

#endif // GRADSYNC_NETWORK_READER_H
