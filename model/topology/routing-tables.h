// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROUTING_TABLES_H
#define GRADSYNC_ROUTING_TABLES_H

#include "ns3/prefetch.h"
#include "ns3/route-finder.h"
#include "ns3/topology.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/**
 * Equal-cost shortest paths (fewest links) between endpoints. Endpoints never forward. Where paths
 * of equal length leave a node over NVLink and over PCIe, only NVLink counts, as peer-to-peer
 * libraries choose.
 *
 * Next hops are port numbers of the node (indices into Topology::GetPorts), ascending. Identical
 * sets are stored once. So are identical rows, which say the sets of BLOCK endpoints that follow
 * each other: far from these most nodes have the same ones. Tables of 16,384 accelerators so take
 * a few dozen megabytes, where a set for each node and endpoint would take gigabytes.
 *
 * With PathWeights::Capacity a port stands in its set as often as its weight says, as in the tables
 * of WCMP (Zhou et al., EuroSys'14, section 3): whoever chooses an entry with equal chances
 * chooses ports by their weights. The weight of a port is what it can carry towards the endpoint:
 * the rate of its link, or, if that is less, the sum over the next hops of the neighbour. The
 * endpoint's own links and those of its neighbours do not count: they are the same for all paths.
 * Weights are rounded to a set of MAX_ENTRIES entries; each port has one at least.
 */
class RoutingTables
{
  public:
    /// To which weights are rounded.
    static constexpr uint32_t MAX_ENTRIES = RouteFinder::MAX_ENTRIES;

    /// \param topology must outlive the tables and not change
    /// \param excludedLinks [link] true: routes avoid it; empty: none is
    explicit RoutingTables(const Topology& topology, const std::vector<bool>& excludedLinks = {});

    /// Ports of `node` on shortest paths to `endpoint` (an endpoint index); empty: at the endpoint
    /// itself or unreachable. With weights, equal ports follow each other.
    std::span<const uint16_t> GetNextHops(NodeId node, uint32_t endpoint) const
    {
        const auto row = m_rowOf[static_cast<size_t>(node) * m_blockCount + endpoint / BLOCK];
        const auto set = m_rows[static_cast<size_t>(row) * BLOCK + endpoint % BLOCK];
        return {m_ports.data() + m_setOffsets[set], m_setOffsets[set + 1] - m_setOffsets[set]};
    }

    /// Has the cache fetch what GetNextHops will look up.
    void PrefetchNextHops(NodeId node, uint32_t endpoint) const
    {
        Prefetch(&m_rowOf[static_cast<size_t>(node) * m_blockCount + endpoint / BLOCK]);
    }

    /// The largest number of entries that a set of this node has.
    uint32_t GetLargestSetSize(NodeId node) const;

    /**
     * Links on a shortest path between two endpoints; 0 from an endpoint to itself.
     * \throws std::invalid_argument when there is no path
     */
    uint32_t GetDistance(uint32_t source, uint32_t destination) const;

    /// Share of the traffic source -> destination on one direction of a link.
    struct LinkShare
    {
        LinkId link;
        bool forward; //!< true: from Topology link end a to end b
        double share; //!< (0, 1]
    };

    /**
     * How traffic source -> destination spreads when every node splits evenly over the entries of
     * its set of next hops.
     * \returns the links used, ordered by (link, forward false before true); empty for source ==
     * destination \throws std::invalid_argument when there is no path
     */
    std::vector<LinkShare> GetEvenSplit(uint32_t source, uint32_t destination) const;

    /// Heap bytes held by the tables.
    uint64_t GetMemoryBytes() const;

  private:
    class Maker;

    static constexpr uint32_t BLOCK = 64;

    [[noreturn]] void ThrowNoPath(uint32_t source, uint32_t destination) const;

    const Topology* m_topology;
    size_t m_blockCount;
    std::vector<uint32_t> m_rowOf;      //!< [node * blocks + endpoint / BLOCK]
    std::vector<uint32_t> m_rows;       //!< [row * BLOCK + endpoint % BLOCK] -> set
    std::vector<uint32_t> m_setOffsets; //!< set s is m_ports[m_setOffsets[s] .. m_setOffsets[s+1])
    std::vector<uint16_t> m_ports;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROUTING_TABLES_H
