// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_ACTION_MEMBERS_H
#define GRADSYNC_P4_ACTION_MEMBERS_H

#include "ns3/p4-program.h"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace ns3::gradsync
{

/**
 * Members and groups of one action profile at run time: entries of its tables lead to a member, or
 * to a group of which the selector's hash chooses a member. Handles are the lowest that are free,
 * as in BMv2; all functions throw P4Error when they are given one that is not there.
 */
class P4ActionMembers
{
  public:
    /// \param profile must outlive this
    explicit P4ActionMembers(const P4ActionProfile& profile);

    /// A new member; returns its handle. \param call of one of the profile's actions
    uint32_t AddMember(P4ActionCall call);
    void ModifyMember(uint32_t member, P4ActionCall call);
    /// A member that belongs to a group stays. Whether entries lead to it is P4Pipeline's to know.
    void DeleteMember(uint32_t member);
    /// A new group without members; returns its handle.
    uint32_t AddGroup();
    void DeleteGroup(uint32_t group);
    void AddToGroup(uint32_t member, uint32_t group);
    void RemoveFromGroup(uint32_t member, uint32_t group);
    /// No member and no group.
    void Clear();

    /// \throws P4Error unless an entry leads to a member that is there, or to a group with members
    void Check(const P4TableEntry& entry) const;
    /// The member that an entry leads to; null for an empty group. \param hash that selects
    const P4ActionCall* Find(const P4TableEntry& entry, uint64_t hash) const;

    const std::map<uint32_t, P4ActionCall>& GetMembers() const
    {
        return m_members;
    }

    /// The handles of each group's members, in ascending order.
    const std::map<uint32_t, std::set<uint32_t>>& GetGroups() const
    {
        return m_groups;
    }

    const P4ActionProfile& GetProfile() const
    {
        return m_profile;
    }

  private:
    std::set<uint32_t>& FindGroup(uint32_t group);
    void CheckMember(uint32_t member) const;
    void CheckAction(const P4ActionCall& call) const;

    const P4ActionProfile& m_profile;
    std::map<uint32_t, P4ActionCall> m_members;
    std::map<uint32_t, std::set<uint32_t>> m_groups;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_ACTION_MEMBERS_H
