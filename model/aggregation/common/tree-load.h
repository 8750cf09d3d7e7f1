// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TREE_LOAD_H
#define GRADSYNC_TREE_LOAD_H

#include "ns3/switch-tree.h"
#include "ns3/topology.h"

#include <cstdint>
#include <map>
#include <span>
#include <utility>

namespace ns3::gradsync
{

/// Of links along a way up a tree, in seconds.
struct WayTimes
{
    double delay{0.0};
    double perByte{0.0}; //!< of all links
    double slowest{0.0}; //!< likewise, of the slowest

    void Add(const TopologyLink& link);

    /// Of a packet of so many bytes on the wire.
    double Get(double packetBytes) const
    {
        return delay + perByte * packetBytes;
    }
};

/// Finds what a tree puts on its links.
class TreeLoad
{
  public:
    /// Both must outlive it.
    TreeLoad(const Topology& topology, const SwitchTree& tree);

    /// How often each link is used, from `a` to `b` and back, by packets on their way to a switch
    /// that adds. Once. \param endpoints [member]
    std::map<LinkId, std::pair<uint32_t, uint32_t>> CountUses(std::span<const uint32_t> endpoints);

    /// The way to the root on which a packet takes longest.
    WayTimes FindLongest(std::span<const uint32_t> endpoints, double packetBytes);

  private:
    WayTimes Walk(NodeId node, uint16_t port, bool toRoot);

    const Topology& m_topology;
    const SwitchTree& m_tree;
    std::map<NodeId, uint32_t> m_hopOf;
    std::map<LinkId, std::pair<uint32_t, uint32_t>> m_uses;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TREE_LOAD_H
