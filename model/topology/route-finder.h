// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROUTE_FINDER_H
#define GRADSYNC_ROUTE_FINDER_H

#include "ns3/topology.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// Next hops of all nodes towards one endpoint after the other, as RoutingTables keeps them.
class RouteFinder
{
  public:
    /// To which weights are rounded (RoutingTables).
    static constexpr uint32_t MAX_ENTRIES = 64;

    /// \param topology must outlive this \param excludedLinks [link] true: routes avoid it; empty:
    /// none is
    RouteFinder(const Topology& topology, const std::vector<bool>& excludedLinks);

    /// From now on Get... tell of the routes to this endpoint.
    void Find(uint32_t endpoint);

    /// The nodes from which the endpoint can be reached, the nearest first; without itself.
    std::span<const NodeId> GetNodes() const
    {
        return std::span(m_queue).subspan(1);
    }

    /// The only next hop of one of these nodes, if it has but one and without looking further.
    bool HasOneHop(NodeId node) const
    {
        return m_nodes[node].hops == 1 && !m_weighs;
    }

    uint16_t GetOneHop(NodeId node) const
    {
        return m_nodes[node].lastHop;
    }

    /// Ports of one of these nodes, ascending; with weights a port as often as its weight says, if
    /// this was called for all nearer ones before. Good until the next call.
    const std::vector<uint16_t>& GetHops(NodeId node);

  private:
    /// A port that may be used, by the node at its other end.
    struct Edge
    {
        NodeId peer;
        uint16_t port;
        uint16_t peerPort; //!< the other end's
    };

    /// What is known of a node with respect to the endpoint.
    struct Node
    {
        uint32_t distance;
        uint32_t hops; //!< next hops, before NVLink is preferred
        uint16_t lastHop;
    };

    std::span<const Edge> GetEdges(NodeId node) const
    {
        return {m_edges.data() + m_firstEdge[node], m_edges.data() + m_firstEdge[node + 1]};
    }

    void PreferNvlink(NodeId node);
    void Weigh(NodeId node);
    void Repeat(const std::vector<uint64_t>& weights);

    const Topology& m_topology;
    bool m_weighs;
    std::vector<uint8_t> m_forwards; //!< [node]
    std::vector<size_t> m_firstEdge; //!< [node], and one more
    std::vector<Edge> m_edges;       //!< ascending by port
    NodeId m_target{0};
    std::vector<Node> m_nodes;
    std::vector<NodeId> m_queue;
    std::vector<uint64_t> m_capacity; //!< [node] bits per second towards the endpoint
    std::vector<uint16_t> m_hops;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROUTE_FINDER_H
