// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_DIVISION_H
#define GRADSYNC_SLOT_DIVISION_H

#include "ns3/topology.h"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace ns3::gradsync
{

/// Divides the slots of switches: max-min fair, so that what a group cannot use goes to others.
class SlotDivision
{
  public:
    /// \param poolSlots of each switch \param mostSlots of a group
    SlotDivision(uint32_t poolSlots, uint32_t mostSlots);

    /// \param switches of a group; they must outlive this
    void AddGroup(const std::set<NodeId>& switches);

    /// \returns the slots of each group
    std::vector<uint32_t> Divide();

  private:
    struct Pool
    {
        uint32_t slots;  //!< that are left
        uint32_t groups; //!< without a share
    };

    struct Group
    {
        const std::set<NodeId>* switches;
        bool isDone;
    };

    uint32_t GetLimit(const std::set<NodeId>& switches) const;

    uint32_t m_poolSlots;
    uint32_t m_mostSlots;
    std::vector<Group> m_groups;
    std::map<NodeId, Pool> m_pools;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_DIVISION_H
