// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SWITCH_TREE_H
#define GRADSYNC_SWITCH_TREE_H

#include "ns3/topology.h"
#include "ns3/transport.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/**
 * Which switches aggregate what the members of a group send, and by which ports it goes there.
 *
 * The root is the switch whose farthest member is the nearest, then the one nearest to all
 * together; of equal ones the groups take turns. Members send along a shortest path to the root.
 * Switches where paths meet aggregate; NICs and the like, and switches that one path passes, hand
 * on.
 */
struct SwitchTree
{
    /// What an aggregating switch waits for and answers: a member or an aggregating switch below.
    struct Child
    {
        bool isMember;
        uint32_t index; //!< of the member, or in `hops`
        uint16_t port;  //!< of the switch, towards it
    };

    /// A node that forwards.
    struct Hop
    {
        NodeId node;
        bool aggregates;
        std::optional<uint16_t> up; //!< port towards the root; none: it is the root
        /// Of one that does not aggregate: the ports towards the hops below that do, and by which
        /// their results go. [index in `hops`]
        std::map<uint32_t, uint16_t> down;
        std::vector<Child> children; //!< of one that aggregates
    };

    std::vector<Hop> hops;             //!< the root first
    std::vector<uint16_t> memberPorts; //!< [member] port of the endpoint by which it sends
    std::set<LinkId> links;            //!< all that it uses
};

/**
 * \param endpoints of the group, distinct; \param turn number of the group
 * \param outage links that it does without, and switches that only hand on
 * \param root in place of the nearest switch
 * \throws std::invalid_argument with a text for the user when no switch reaches all of them
 */
SwitchTree BuildSwitchTree(const Topology& topology,
                           std::span<const uint32_t> endpoints,
                           uint32_t turn,
                           const AggregationOutage& outage = {},
                           std::optional<NodeId> root = std::nullopt);

} // namespace ns3::gradsync

#endif // GRADSYNC_SWITCH_TREE_H
