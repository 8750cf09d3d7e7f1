// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NODE_COMPONENTS_H
#define GRADSYNC_NODE_COMPONENTS_H

#include "ns3/topology.h"

#include <boost/pending/disjoint_sets.hpp>
#include <cstdint>

namespace ns3::gradsync
{

/// Connected components of the nodes up to a tier, which only grow from tier to tier.
class NodeComponents
{
  public:
    /// Every node on its own. \param topology must outlive this
    explicit NodeComponents(const Topology& topology);

    /// The highest tier plus 1; 0 for a topology without nodes.
    uint32_t GetTierCount() const;

    /// Joins the ends of all links between nodes of at most this tier.
    void JoinUpTo(uint32_t tier);

    /// One node that stands for the component of `node`; the same for all its nodes until the next
    /// join.
    NodeId Find(NodeId node);

  private:
    const Topology* m_topology;
    boost::disjoint_sets_with_storage<> m_sets;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NODE_COMPONENTS_H
