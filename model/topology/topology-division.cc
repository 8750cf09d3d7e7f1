// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/topology-division.h"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t NO_PART = UINT32_MAX;

/// [node] -> block, where hosts stay with their leaves or only with their NICs.
std::vector<uint32_t>
FindBlocksOf(const Topology& topology, bool staysWithLeaf)
{
    const auto nodes = topology.GetNodes();
    boost::disjoint_sets_with_storage<> sets(nodes.size());
    for (const auto& link : topology.GetLinks())
    {
        const bool isOfEndpoint = IsEndpoint(nodes[link.a].kind) || IsEndpoint(nodes[link.b].kind);
        if (!IsEthernet(link) || isOfEndpoint || link.delay.IsZero() ||
            (staysWithLeaf && link.kind == LinkKind::Host))
        {
            sets.union_set(link.a, link.b);
        }
    }
    std::map<size_t, uint32_t> numbers;
    std::vector<uint32_t> blockOf;
    blockOf.reserve(nodes.size());
    for (NodeId node = 0; node < nodes.size(); ++node)
    {
        const auto number = static_cast<uint32_t>(numbers.size());
        blockOf.push_back(numbers.try_emplace(sets.find_set(size_t{node}), number).first->second);
    }
    return blockOf;
}

/// [block] -> endpoints in it.
std::vector<uint32_t>
CountEndpoints(const Topology& topology, const std::vector<uint32_t>& blockOf)
{
    std::vector<uint32_t> counts(*std::ranges::max_element(blockOf) + 1, 0);
    for (const auto node : topology.GetEndpoints())
    {
        ++counts[blockOf[node]];
    }
    return counts;
}

size_t
CountBlocksWithEndpoints(const Topology& topology, const std::vector<uint32_t>& blockOf)
{
    const auto counts = CountEndpoints(topology, blockOf);
    return counts.size() - static_cast<size_t>(std::ranges::count(counts, 0U));
}

/// [block] -> process; NO_PART of those without endpoints. In the order of their first endpoints.
std::vector<uint32_t>
DealBlocks(const Topology& topology,
           const std::vector<uint32_t>& blockOf,
           const std::vector<uint32_t>& endpointsOf,
           uint32_t processes)
{
    std::vector<uint32_t> partOf(endpointsOf.size(), NO_PART);
    const auto total = uint64_t{topology.GetEndpoints().size()};
    uint64_t before = 0;
    for (const auto node : topology.GetEndpoints())
    {
        const auto block = blockOf[node];
        if (partOf[block] == NO_PART)
        {
            // By where its middle stands among all endpoints.
            const uint64_t own = endpointsOf[block];
            partOf[block] = static_cast<uint32_t>((2 * before + own) * processes / (2 * total));
            before += own;
        }
    }
    return partOf;
}

/// The process for a switch without endpoints.
uint32_t
ChoosePart(const Topology& topology,
           NodeId node,
           const std::vector<uint32_t>& partOfNode,
           const std::vector<size_t>& linksOf)
{
    std::vector<size_t> neighbours(linksOf.size(), 0);
    for (const auto& port : topology.GetPorts(node))
    {
        if (partOfNode[port.peer] != NO_PART)
        {
            ++neighbours[partOfNode[port.peer]];
        }
    }
    uint32_t best = 0;
    for (uint32_t part = 1; part < linksOf.size(); ++part)
    {
        if (neighbours[part] > neighbours[best] ||
            (neighbours[part] == neighbours[best] && linksOf[part] < linksOf[best]))
        {
            best = part;
        }
    }
    return best;
}

/// Deals out the nodes that have no process, the lowest tiers first.
void
DealSwitches(const Topology& topology,
             const std::vector<uint32_t>& blockOf,
             std::vector<uint32_t>& partOfNode,
             uint32_t processes)
{
    std::vector<NodeId> left;
    for (NodeId node = 0; node < partOfNode.size(); ++node)
    {
        if (partOfNode[node] == NO_PART)
        {
            left.push_back(node);
        }
    }
    const auto nodes = topology.GetNodes();
    std::ranges::stable_sort(left, {}, [nodes](NodeId node) { return nodes[node].tier; });
    std::vector<size_t> linksOf(processes, 0);
    std::map<uint32_t, uint32_t> partOfBlock; // links without delay may join several switches
    for (const auto node : left)
    {
        const auto [found, isNew] = partOfBlock.try_emplace(blockOf[node], 0);
        if (isNew)
        {
            found->second = ChoosePart(topology, node, partOfNode, linksOf);
        }
        partOfNode[node] = found->second;
        linksOf[found->second] += topology.GetPorts(node).size();
    }
}

} // namespace

std::vector<uint32_t>
FindBlocks(const Topology& topology, uint32_t processes)
{
    auto leaves = FindBlocksOf(topology, true);
    return CountBlocksWithEndpoints(topology, leaves) >= processes ? leaves
                                                                   : FindBlocksOf(topology, false);
}

TopologyDivision
DivideTopology(const Topology& topology, uint32_t processes, uint32_t own)
{
    const auto blockOf = FindBlocks(topology, processes);
    const auto count = CountBlocksWithEndpoints(topology, blockOf);
    if (count < processes)
    {
        throw std::invalid_argument(
            fmt::format("the network has {} part{} with hosts that links with a delay, between "
                        "nodes that forward, keep apart: at most that many ranks",
                        count,
                        count == 1 ? "" : "s"));
    }
    const auto endpointsOf = CountEndpoints(topology, blockOf);
    const auto partOfBlock = DealBlocks(topology, blockOf, endpointsOf, processes);
    TopologyDivision division{.count = processes, .own = own, .partOf = {}};
    for (const auto block : blockOf)
    {
        division.partOf.push_back(partOfBlock[block]);
    }
    DealSwitches(topology, blockOf, division.partOf, processes);
    return division;
}

std::optional<Time>
FindLeastCutDelay(const Topology& topology, const TopologyDivision& division)
{
    std::optional<Time> least;
    for (const auto& link : topology.GetLinks())
    {
        if (division.IsCut(link))
        {
            least = least ? std::min(*least, link.delay) : link.delay;
        }
    }
    return least;
}

} // namespace ns3::gradsync
