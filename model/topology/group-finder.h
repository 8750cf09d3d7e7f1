// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GROUP_FINDER_H
#define GRADSYNC_GROUP_FINDER_H

#include "ns3/topology.h"
#include "ns3/worker-groups.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

struct TierPartition;

/**
 * Finds the hierarchy in which ranks of a job sit, and how oversubscribed it is, from the graph
 * alone. Looks at the graph once, however many groups of ranks are asked for.
 *
 * The groups of tier j ("server" 0, "rack" 1, "pod" 2, then "tier3", ...) are the connected
 * components of the nodes of tier <= j that hold a rank. Not listed: a tier whose one group holds
 * every rank, and a tier whose groups hold one rank each. A tier that groups the ranks as the
 * listed tier below it is merged into that one, which then counts the narrower of the two exits.
 *
 * doc/topology.rst derives the two ratios. A group without any link to the rest has an infinite
 * one: check the topology first (Topology::CheckConnected).
 */
class GroupFinder
{
  public:
    explicit GroupFinder(const Topology& topology);

    /**
     * \param endpointOfRank [rank] -> endpoint index
     * \throws std::invalid_argument when a rank names an unknown endpoint, or one that another rank
     * has
     */
    WorkerGroups Find(std::span<const uint32_t> endpointOfRank) const;

    /// The components of the nodes of at most this tier, which is one of the topology or above all
    /// of them. \returns [rank] -> component, numbered 0.. in order of first appearance
    /// \throws std::invalid_argument as Find
    std::vector<uint32_t> FindTier(uint32_t tier, std::span<const uint32_t> endpointOfRank) const;

  private:
    struct Tier
    {
        std::vector<uint32_t> componentOf; //!< [endpoint]
        std::vector<double> exitBps;       //!< [component] summed rate of the links that leave it
    };

    void CheckRanks(std::span<const uint32_t> endpointOfRank) const;
    TierPartition MakePartition(const Tier& tier, std::span<const uint32_t> endpointOfRank) const;
    TierPartition MakeServers(std::span<const uint32_t> endpointOfRank) const;

    std::vector<Tier> m_tiers;
    std::vector<double> m_egressBps; //!< [endpoint] at which it can send toward the outside
};

/// What a GroupFinder finds, for one group of ranks.
WorkerGroups ComputeWorkerGroups(const Topology& topology,
                                 std::span<const uint32_t> endpointOfRank);

/**
 * Which ranks sit below the same leaf switches: the components of the nodes of tier <= 1, also
 * where ComputeWorkerGroups lists no such level, as racks of one server each. One group where the
 * network has no leaf. The ratios of the level are not computed.
 *
 * \param endpointOfRank as of ComputeWorkerGroups \throws std::invalid_argument likewise
 */
GroupLevel FindRacks(const Topology& topology, std::span<const uint32_t> endpointOfRank);

/**
 * Which server each rank stands in: the components of the nodes of tier 0, also where
 * ComputeWorkerGroups lists no such level.
 *
 * \param endpointOfRank as of ComputeWorkerGroups \throws std::invalid_argument likewise
 * \returns [rank] -> server, numbered 0.. in order of first appearance
 */
std::vector<uint32_t> FindServers(const Topology& topology,
                                  std::span<const uint32_t> endpointOfRank);

} // namespace ns3::gradsync

#endif // GRADSYNC_GROUP_FINDER_H
