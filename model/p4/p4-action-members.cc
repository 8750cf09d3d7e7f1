// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-action-members.h"

#include "ns3/p4-error.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// The lowest number that is no key.
template <typename Map>
uint32_t
FindFreeHandle(const Map& used)
{
    uint32_t handle = 0;
    for (auto at = used.begin(); at != used.end() && at->first == handle; ++at)
    {
        ++handle;
    }
    return handle;
}

} // namespace

P4ActionMembers::P4ActionMembers(const P4ActionProfile& profile)
    : m_profile(profile)
{
}

uint32_t
P4ActionMembers::AddMember(P4ActionCall call)
{
    CheckAction(call);
    const uint32_t handle = FindFreeHandle(m_members);
    m_members.emplace(handle, std::move(call));
    return handle;
}

void
P4ActionMembers::ModifyMember(uint32_t member, P4ActionCall call)
{
    CheckAction(call);
    CheckMember(member);
    m_members[member] = std::move(call);
}

void
P4ActionMembers::DeleteMember(uint32_t member)
{
    CheckMember(member);
    for (const auto& [group, members] : m_groups)
    {
        if (members.contains(member))
        {
            throw P4Error(m_profile.name,
                          fmt::format("member {} belongs to group {}", member, group));
        }
    }
    m_members.erase(member);
}

uint32_t
P4ActionMembers::AddGroup()
{
    if (!m_profile.hasSelector)
    {
        throw P4Error(m_profile.name, "an action profile without a selector has no groups");
    }
    const uint32_t handle = FindFreeHandle(m_groups);
    m_groups.emplace(handle, std::set<uint32_t>{});
    return handle;
}

void
P4ActionMembers::DeleteGroup(uint32_t group)
{
    FindGroup(group);
    m_groups.erase(group);
}

void
P4ActionMembers::AddToGroup(uint32_t member, uint32_t group)
{
    CheckMember(member);
    if (!FindGroup(group).insert(member).second)
    {
        throw P4Error(m_profile.name,
                      fmt::format("member {} belongs to group {} already", member, group));
    }
}

void
P4ActionMembers::RemoveFromGroup(uint32_t member, uint32_t group)
{
    CheckMember(member);
    if (FindGroup(group).erase(member) == 0)
    {
        throw P4Error(m_profile.name,
                      fmt::format("member {} does not belong to group {}", member, group));
    }
}

void
P4ActionMembers::Clear()
{
    m_members.clear();
    m_groups.clear();
}

void
P4ActionMembers::Check(const P4TableEntry& entry) const
{
    if (entry.target == P4EntryTarget::MEMBER)
    {
        CheckMember(entry.member);
        return;
    }
    const auto found = m_groups.find(entry.member);
    if (entry.target != P4EntryTarget::GROUP || found == m_groups.end() || found->second.empty())
    {
        throw P4Error(m_profile.name,
                      fmt::format("there is no group {} with members", entry.member));
    }
}

const P4ActionCall*
P4ActionMembers::Find(const P4TableEntry& entry, uint64_t hash) const
{
    uint32_t member = entry.member;
    if (entry.target == P4EntryTarget::GROUP)
    {
        const auto group = m_groups.find(entry.member);
        if (group == m_groups.end() || group->second.empty())
        {
            return nullptr;
        }
        const auto nth = static_cast<std::ptrdiff_t>(hash % group->second.size());
        member = *std::next(group->second.begin(), nth);
    }
    const auto found = m_members.find(member);
    return found == m_members.end() ? nullptr : &found->second;
}

std::set<uint32_t>&
P4ActionMembers::FindGroup(uint32_t group)
{
    const auto found = m_groups.find(group);
    if (found == m_groups.end())
    {
        throw P4Error(m_profile.name, fmt::format("there is no group {}", group));
    }
    return found->second;
}

void
P4ActionMembers::CheckMember(uint32_t member) const
{
    if (!m_members.contains(member))
    {
        throw P4Error(m_profile.name, fmt::format("there is no member {}", member));
    }
}

void
P4ActionMembers::CheckAction(const P4ActionCall& call) const
{
    const auto& actions = m_profile.actions;
    const auto found = std::find(actions.begin(), actions.end(), call.action);
    if (found == actions.end())
    {
        throw P4Error(m_profile.name, "this action is none of the profile's");
    }
    if (call.parameters.size() != m_profile.limbs[static_cast<size_t>(found - actions.begin())])
    {
        throw P4Error(m_profile.name, "the action has other parameters");
    }
}

} // namespace ns3::gradsync
