// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_LOAD_BALANCING_H
#define GRADSYNC_LOAD_BALANCING_H

#include "ns3/routing-tables.h"
#include "ns3/topology.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// How a switch chooses among equal-cost next hops.
enum LoadBalancing
{
    LB_HASH,        //!< ECMP: a hash of the connection, salted per switch
    LB_DESTINATION, //!< D-mod-k: by destination index, so that equal loads on all hosts load all
                    //!< links equally
    LB_SPRAY,       //!< each packet at random
    LB_ADAPTIVE,    //!< each packet where the switch's own queue is the shortest
    LB_FLOWLET      //!< anew after each pause of a connection
};

/// True when packets of one connection overtake each other as a rule.
inline bool
IsReordering(LoadBalancing loadBalancing)
{
    return loadBalancing == LB_SPRAY || loadBalancing == LB_ADAPTIVE;
}

/// What makes the choices of a node differ from those of its neighbours.
uint64_t MakeNodeSalt(uint64_t hashSeed, uint32_t node);

/**
 * One switch's choice among equal-cost next hops. Pure and cheap: it runs for every packet.
 *
 * D-mod-k: Zahavi, Johnson, Kerbyson, Lang, "Optimized InfiniBand fat-tree routing for shift
 * all-to-all communication patterns", 2009. A switch of tier t divides the destination by the
 * product of the fan-outs of the tiers below before it takes the remainder, so that each tier
 * spreads over its own digit.
 */
class NextHopChooser
{
  public:
    NextHopChooser() = default;

    /// \param salt differs per switch and seed, so that consecutive switches do not choose alike
    static NextHopChooser MakeHash(uint64_t salt)
    {
        NextHopChooser chooser;
        chooser.m_salt = salt | 1; // odd: multiplication permutes
        return chooser;
    }

    /// \param divisor product of the upward fan-outs of the tiers below, at least 1
    static NextHopChooser MakeDestination(uint32_t divisor)
    {
        NextHopChooser chooser;
        chooser.m_divisor = divisor;
        return chooser;
    }

    /// Index in [0, count).
    uint32_t Choose(uint32_t flowHash, uint32_t destination, uint32_t count) const
    {
        if (m_divisor != 0)
        {
            return destination / m_divisor % count;
        }
        const auto mixed = ((flowHash + m_salt) * m_salt) >> 32;
        return static_cast<uint32_t>(((mixed & 0xffffffff) * count) >> 32);
    }

  private:
    uint64_t m_salt{1};
    uint32_t m_divisor{0}; //!< 0: by hash
};

/// The chooser of every node. \param hashSeed other seeds give other collisions of the hash
std::vector<NextHopChooser> MakeNextHopChoosers(const Topology& topology,
                                                const RoutingTables& routes,
                                                LoadBalancing loadBalancing,
                                                uint64_t hashSeed);

} // namespace ns3::gradsync

#endif // GRADSYNC_LOAD_BALANCING_H
