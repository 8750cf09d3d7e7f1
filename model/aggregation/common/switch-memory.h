// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SWITCH_MEMORY_H
#define GRADSYNC_SWITCH_MEMORY_H

#include "ns3/topology.h"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace ns3::gradsync
{

/// The memory of each switch for sums, which the groups of all protocols share.
class SwitchMemory
{
  public:
    /// Who has memory: a group, or all groups of a driver together.
    struct Holder
    {
        uint8_t driver;
        std::optional<uint32_t> group; //!< none: all of them
        auto operator<=>(const Holder&) const = default;
    };

    /// \param bytes of each switch; 0: as much as anybody asks for
    void SetCapacity(uint64_t bytes)
    {
        m_capacity = bytes;
    }

    /**
     * Gives a holder memory of a switch. One that has it already keeps it, and must give it back as
     * often as it took it. \param name of the switch
     * \throws AggregationDenied with a text for the user when there is not as much left
     */
    void Take(NodeId node, const std::string& name, const Holder& holder, uint64_t bytes);
    void Give(NodeId node, const Holder& holder);

    /// Of the memory of a switch; 0 where there is no limit.
    double GetShare(uint64_t bytes) const
    {
        return m_capacity == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(m_capacity);
    }

    /// Of a switch, by all holders together.
    uint64_t GetTakenBytes(NodeId node) const;

  private:
    struct Part
    {
        uint64_t bytes{0};
        uint32_t uses{0}; //!< how often it was taken
    };

    uint64_t m_capacity{0};
    std::map<NodeId, std::map<Holder, Part>> m_parts;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SWITCH_MEMORY_H
