// SPDX-License-Identifier: GPL-2.0-only
// The part of P4Pipeline that a control plane sets for tables, action profiles, meters and value
// sets.
#include "ns3/p4-error.h"
#include "ns3/p4-pipeline.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

P4MatchTable&
P4Pipeline::FindTable(const std::string& name)
{
    for (auto& table : m_machine.GetTables())
    {
        if (table.GetTable().name == name)
        {
            return table;
        }
    }
    throw P4Error(m_program->file, fmt::format("there is no table \"{}\"", name));
}

P4ActionMembers&
P4Pipeline::FindProfile(const std::string& name)
{
    for (auto& members : m_machine.GetProfiles())
    {
        if (members.GetProfile().name == name)
        {
            return members;
        }
    }
    throw P4Error(m_program->file, fmt::format("there is no action profile \"{}\"", name));
}

bool
P4Pipeline::IsReferred(const std::string& profile, P4EntryTarget target, uint32_t handle)
{
    const auto index =
        static_cast<uint32_t>(&FindProfile(profile) - m_machine.GetProfiles().data());
    const auto& tables = m_machine.GetTables();
    return std::any_of(tables.begin(), tables.end(), [&](const P4MatchTable& table) {
        return table.GetTable().profile == index && table.Refers(target, handle);
    });
}

void
P4Pipeline::DeleteMember(const std::string& profile, uint32_t member)
{
    if (IsReferred(profile, P4EntryTarget::MEMBER, member))
    {
        throw P4Error(profile, fmt::format("an entry leads to member {}", member));
    }
    FindProfile(profile).DeleteMember(member);
}

void
P4Pipeline::DeleteMemberGroup(const std::string& profile, uint32_t group)
{
    if (IsReferred(profile, P4EntryTarget::GROUP, group))
    {
        throw P4Error(profile, fmt::format("an entry leads to group {}", group));
    }
    FindProfile(profile).DeleteGroup(group);
}

P4MeterArrayState&
P4Pipeline::FindMeter(const std::string& name)
{
    for (auto& meter : m_machine.GetMeters())
    {
        if (meter.GetArray().name == name)
        {
            return meter;
        }
    }
    throw P4Error(m_program->file, fmt::format("there is no meter \"{}\"", name));
}

std::set<std::vector<uint64_t>>&
P4Pipeline::FindValueSet(const std::string& name)
{
    const auto& sets = m_program->valueSets;
    for (size_t i = 0; i < sets.size(); ++i)
    {
        if (sets[i].name == name)
        {
            return m_machine.GetValueSets()[i];
        }
    }
    throw P4Error(m_program->file, fmt::format("there is no parser value set \"{}\"", name));
}

void
P4Pipeline::AddToValueSet(const std::string& name, std::vector<uint64_t> value)
{
    FindValueSet(name).insert(std::move(value));
}

void
P4Pipeline::RemoveFromValueSet(const std::string& name, const std::vector<uint64_t>& value)
{
    FindValueSet(name).erase(value);
}

void
P4Pipeline::ClearValueSet(const std::string& name)
{
    FindValueSet(name).clear();
}

std::vector<std::vector<uint64_t>>
P4Pipeline::GetValueSet(const std::string& name)
{
    const auto& values = FindValueSet(name);
    return {values.begin(), values.end()};
}

} // namespace ns3::gradsync
