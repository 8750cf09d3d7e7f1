// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TOPOLOGY_DIVISION_H
#define GRADSYNC_TOPOLOGY_DIVISION_H

#include "ns3/nstime.h"
#include "ns3/topology.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/// Which of several processes simulates which node of one network, and which of them this one is.
struct TopologyDivision
{
    uint32_t count{1};            //!< of processes
    uint32_t own{0};              //!< the number of this one
    std::vector<uint32_t> partOf; //!< [node] -> number of its process

    bool IsHere(NodeId node) const
    {
        return partOf[node] == own;
    }

    bool IsCut(const TopologyLink& link) const
    {
        return partOf[link.a] != partOf[link.b];
    }
};

/**
 * What must stay together when a network is divided: links between two blocks have a delay and join
 * nodes that forward. A block is a leaf switch with all that hangs on it where there are as many of
 * these as processes, else a server; each of the other switches is one of its own.
 * \returns [node] -> number of its block, from 0 in the order of nodes
 */
std::vector<uint32_t> FindBlocks(const Topology& topology, uint32_t processes);

/**
 * Gives each process blocks that follow each other, with as near to equally many endpoints as
 * blocks let it, and switches without endpoints to the process that has most of their neighbours;
 * of equal ones to the one that has the fewest links. \param own number of this process \throws
 * std::invalid_argument with a text for the user when there are fewer blocks with endpoints than
 * processes
 */
TopologyDivision DivideTopology(const Topology& topology, uint32_t processes, uint32_t own);

/// The shortest delay of a link between two processes; nothing: there is none.
std::optional<Time> FindLeastCutDelay(const Topology& topology, const TopologyDivision& division);

} // namespace ns3::gradsync

#endif // GRADSYNC_TOPOLOGY_DIVISION_H
