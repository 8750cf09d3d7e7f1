// SPDX-License-Identifier: GPL-2.0-only
// The part of RoutingTables that fills them.
#include "ns3/routing-tables.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Set 0: no next hop.
constexpr uint32_t EmptySet = 0;

} // namespace

/// Fills tables, endpoint by endpoint and then row by row.
class RoutingTables::Maker
{
  public:
    Maker(RoutingTables& tables, const std::vector<bool>& excludedLinks)
        : m_tables(tables),
          m_finder(*tables.m_topology, excludedLinks),
          m_nodeCount(tables.m_topology->GetNodes().size()),
          m_sets(m_nodeCount * BLOCK),
          m_row(BLOCK)
    {
    }

    void MakeBlock(uint32_t block)
    {
        std::ranges::fill(m_sets, EmptySet);
        const auto endpoints = static_cast<uint32_t>(m_tables.m_topology->GetEndpoints().size());
        const auto first = block * BLOCK;
        for (auto endpoint = first; endpoint < std::min(first + BLOCK, endpoints); ++endpoint)
        {
            m_finder.Find(endpoint);
            auto* sets = &m_sets[(endpoint - first) * m_nodeCount];
            for (const auto node : m_finder.GetNodes())
            {
                sets[node] = m_finder.HasOneHop(node) ? KeepOne(m_finder.GetOneHop(node))
                                                      : Keep(m_finder.GetHops(node));
            }
        }
        for (NodeId node = 0; node < m_nodeCount; ++node)
        {
            m_tables.m_rowOf[node * m_tables.m_blockCount + block] = KeepRow(node);
        }
    }

  private:
    /// Of an array that is to be stored once (FNV-1a, by elements).
    struct ArrayHash
    {
        template <typename T>
        size_t operator()(const std::vector<T>& array) const
        {
            uint64_t hash = 0xcbf29ce484222325;
            for (const auto element : array)
            {
                hash = (hash ^ element) * 0x100000001b3;
            }
            return hash ^ hash >> 32;
        }
    };

    uint32_t KeepOne(uint16_t port)
    {
        if (port >= m_setOfPort.size())
        {
            m_setOfPort.resize(port + size_t{1}, EmptySet);
        }
        if (m_setOfPort[port] == EmptySet)
        {
            m_setOfPort[port] = Keep({port});
        }
        return m_setOfPort[port];
    }

    uint32_t Keep(const std::vector<uint16_t>& hops)
    {
        auto& offsets = m_tables.m_setOffsets;
        const auto next = static_cast<uint32_t>(offsets.size() - 1);
        const auto [entry, isNew] = m_knownSets.try_emplace(hops, next);
        if (isNew)
        {
            auto& ports = m_tables.m_ports;
            ports.insert(ports.end(), hops.begin(), hops.end());
            offsets.push_back(static_cast<uint32_t>(ports.size()));
        }
        return entry->second;
    }

    uint32_t KeepRow(NodeId node)
    {
        for (uint32_t i = 0; i < BLOCK; ++i)
        {
            m_row[i] = m_sets[i * m_nodeCount + node];
        }
        auto& rows = m_tables.m_rows;
        const auto next = static_cast<uint32_t>(rows.size() / BLOCK);
        const auto [entry, isNew] = m_knownRows.try_emplace(m_row, next);
        if (isNew)
        {
            rows.insert(rows.end(), m_row.begin(), m_row.end());
        }
        return entry->second;
    }

    RoutingTables& m_tables;
    RouteFinder m_finder;
    size_t m_nodeCount;
    std::vector<uint32_t> m_sets; //!< [endpoint of the block * nodes + node]
    std::vector<uint32_t> m_row;
    std::vector<uint32_t> m_setOfPort; //!< [port] the set that has it alone
    std::unordered_map<std::vector<uint16_t>, uint32_t, ArrayHash> m_knownSets{{{}, EmptySet}};
    std::unordered_map<std::vector<uint32_t>, uint32_t, ArrayHash> m_knownRows;
};

RoutingTables::RoutingTables(const Topology& topology, const std::vector<bool>& excludedLinks)
    : m_topology(&topology),
      m_blockCount((topology.GetEndpoints().size() + BLOCK - 1) / BLOCK),
      m_rowOf(topology.GetNodes().size() * m_blockCount),
      m_setOffsets{0, 0}
{
    Maker maker(*this, excludedLinks);
    for (uint32_t block = 0; block < m_blockCount; ++block)
    {
        maker.MakeBlock(block);
    }
    m_rows.shrink_to_fit();
    m_ports.shrink_to_fit();
    m_setOffsets.shrink_to_fit();
}

} // namespace ns3::gradsync
