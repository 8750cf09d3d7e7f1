// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TOPOLOGY_H
#define GRADSYNC_TOPOLOGY_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

using NodeId = uint32_t;
using LinkId = uint32_t;

/// What a node is. Endpoints (Host, Accelerator) send and receive; all others forward.
enum class NodeKind : uint8_t
{
    Host,        //!< a server seen as one endpoint
    Accelerator, //!< a GPU or the like inside a server: an endpoint
    Nic,
    PcieSwitch,
    Cpu, //!< root complex of a socket
    NvSwitch,
    Switch
};

/// What a link is; statistics are kept per class.
enum class LinkKind : uint8_t
{
    Host,   //!< endpoint or NIC to its first switch
    Fabric, //!< switch to switch
    Pcie,
    Upi,
    Nvlink
};

bool IsEndpoint(NodeKind kind);
std::string_view ToString(NodeKind kind);
std::string_view ToString(LinkKind kind);

struct TopologyNode
{
    std::string name; //!< unique
    NodeKind kind;
    /**
     * Height in the hierarchy: 0 everything inside a server, 1 leaf (top of rack), 2 spine or
     * aggregation, 3 core. Groups are derived from it.
     */
    uint32_t tier;
};

/// A full-duplex point-to-point link.
struct TopologyLink
{
    NodeId a;
    NodeId b;
    DataRate rate; //!< per direction
    Time delay;    //!< propagation
    LinkKind kind;
};

/// True for links of the network, false for those inside servers.
inline bool
IsEthernet(const TopologyLink& link)
{
    return link.kind == LinkKind::Host || link.kind == LinkKind::Fabric;
}

/// How routes share traffic among shortest paths.
enum class PathWeights : uint8_t
{
    Even,    //!< all next hops alike (ECMP)
    Capacity //!< by the capacity that lies behind each (WCMP), see RoutingTables
};

/// One end of a link as seen from a node.
struct Adjacency
{
    LinkId link;
    NodeId peer;
};

/**
 * The network as an undirected multigraph with typed nodes and links. Knows no packet and no
 * scheme.
 *
 * Endpoints are numbered 0.. in the order in which they were added; an endpoint index is what
 * transports and jobs use. A node's ports are its adjacencies, in the order in which the links were
 * added.
 */
class Topology
{
  public:
    /// \throws std::invalid_argument when the name is empty or already taken
    NodeId AddNode(std::string name, NodeKind kind, uint32_t tier);
    /**
     * \throws std::invalid_argument when a node is unknown, both ends are equal, the rate is 0, the
     *         delay negative, or an end has 65,535 ports already (ports are numbered in 16 bits)
     */
    LinkId AddLink(NodeId a, NodeId b, DataRate rate, const Time& delay, LinkKind kind);

    void SetPathWeights(PathWeights weights)
    {
        m_pathWeights = weights;
    }

    PathWeights GetPathWeights() const
    {
        return m_pathWeights;
    }

    std::span<const TopologyNode> GetNodes() const;
    std::span<const TopologyLink> GetLinks() const;
    /// Endpoint index -> node.
    std::span<const NodeId> GetEndpoints() const;
    std::span<const Adjacency> GetPorts(NodeId node) const;

    /// The node of that name, or nothing.
    std::optional<NodeId> FindNode(std::string_view name) const;

    /**
     * Checks that there is an endpoint and that every endpoint reaches every other one, where
     * endpoints do not forward. \throws std::invalid_argument with the name of an endpoint that
     * cannot reach the others
     */
    void CheckConnected() const;

    /// Distance of a node that GetDistancesTo could not reach.
    static constexpr uint32_t Unreachable = UINT32_MAX;

    /**
     * Breadth-first search over paths whose inner nodes are not endpoints.
     * \param excludedLinks [link] true: not to be used; empty: all links are
     * \returns [node] the fewest links from there to the endpoint `target` (a node), or Unreachable
     */
    std::vector<uint32_t> GetDistancesTo(NodeId target,
                                         const std::vector<bool>& excludedLinks = {}) const;

  private:
    std::vector<TopologyNode> m_nodes;
    std::vector<TopologyLink> m_links;
    std::vector<NodeId> m_endpoints;
    PathWeights m_pathWeights{PathWeights::Even};
    std::vector<std::vector<Adjacency>> m_ports;
    std::map<std::string, NodeId, std::less<>> m_nodeByName;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TOPOLOGY_H
