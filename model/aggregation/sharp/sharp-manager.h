// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SHARP_MANAGER_H
#define GRADSYNC_SHARP_MANAGER_H

#include "ns3/topology.h"

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Switches with SHARP, by their limits.
enum SharpGeneration
{
    SHARP_QUANTUM, //!< 126 trees, of which 63 stream, and one streams at a time
    SHARP_QUANTUM2 //!< 1,023 trees, and one streams at a time through a port
};

/// What a tree of SHARP is for.
enum class SharpTree : uint8_t
{
    LowLatency, //!< LLT: short messages, by transactions
    Streaming   //!< SAT: long ones, for which it locks what streams
};

/**
 * The aggregation manager of SHARP: gives trees to jobs as far as the switches have room. A switch
 * has so many trees; each job has a share of its transactions, buffers and groups (a quota in
 * percent, as the manager's defaults are); and a streaming tree holds an exclusive lock on the
 * switch, or with Quantum-2 on the ports that it uses there, until its job is over.
 */
class SharpManager
{
  public:
    /// What a tree uses of a switch.
    struct Hop
    {
        NodeId node;
        std::string name;
        std::set<uint16_t> ports;
    };

    struct Limits
    {
        uint32_t trees;          //!< of a switch
        uint32_t streamingTrees; //!< of these
        bool locksPorts;         //!< a streaming tree locks its ports; false: the switch
    };

    static Limits GetLimits(SharpGeneration generation);

    void SetGeneration(SharpGeneration generation)
    {
        m_limits = GetLimits(generation);
    }

    /**
     * Gives a group a tree, which it has until it returns it.
     * \param quota in percent of each switch
     * \throws AggregationDenied with a text for the user; then it has none
     */
    void Take(uint32_t group, SharpTree kind, uint32_t quota, std::span<const Hop> hops);
    /// Of a group that may have none.
    void Return(uint32_t group);

  private:
    /// A tree at a switch.
    struct Part
    {
        SharpTree kind;
        uint32_t quota;
        std::set<uint16_t> ports;
    };

    void Check(const Hop& hop, SharpTree kind, uint32_t quota) const;
    void CheckLock(const Hop& hop, const std::map<uint32_t, Part>& parts) const;

    Limits m_limits{GetLimits(SHARP_QUANTUM)};
    std::map<NodeId, std::map<uint32_t, Part>> m_parts; //!< [switch][group]
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SHARP_MANAGER_H
