// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-command-writer.h"

#include "ns3/p4-error.h"
#include "ns3/p4-runtime-values.h"

#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

/// BMv2's priorities count down from here: the smallest wins there.
constexpr uint32_t LARGEST_PRIORITY = 0x7fffffff;
/// Groups of clone sessions are numbered from here on, as P4Runtime for BMv2 does.
constexpr uint32_t FIRST_CLONE_GROUP = 1U << 15;

std::string
MakeAllOnes(uint32_t bits)
{
    return "0b" + std::string(bits, '1');
}

} // namespace

P4CommandWriter::P4CommandWriter(const P4Program& program)
    : m_program(program)
{
}

void
P4CommandWriter::AddCommand(const std::string& command)
{
    m_text += command + "\n";
}

void
P4CommandWriter::AddEntry(const P4ControlEntry& entry)
{
    const auto& table = m_program.tables[FindP4Item(m_program.tables, entry.table, "table")];
    if (entry.isDefault && !entry.keys.empty())
    {
        throw P4Error(fmt::format("the default action of table \"{}\" has no keys", table.name));
    }
    if (entry.member)
    {
        const bool isGroup = entry.member->first == P4EntryTarget::GROUP;
        const std::string verb =
            entry.isDefault ? "table_indirect_set_default" : "table_indirect_add";
        AddCommand(fmt::format("{}{} {}{} {}{}",
                               verb,
                               isGroup ? "_with_group" : "",
                               table.name,
                               entry.isDefault ? "" : WriteKeys(table, entry.keys) + " =>",
                               entry.member->second,
                               entry.isDefault ? "" : WritePriority(table, entry.priority)));
        return;
    }
    const auto [action, parameters] = WriteAction(table.actions, entry.action, entry.parameters);
    if (entry.isDefault)
    {
        AddCommand(fmt::format("table_set_default {} {}{}", table.name, action, parameters));
        return;
    }
    AddCommand(fmt::format("table_add {} {}{} =>{}{}",
                           table.name,
                           action,
                           WriteKeys(table, entry.keys),
                           parameters,
                           WritePriority(table, entry.priority)));
}

std::string
P4CommandWriter::WritePriority(const P4Table& table, uint32_t priority) const
{
    bool isOrdered = false;
    for (const auto& key : table.keys)
    {
        isOrdered = isOrdered || key.kind == P4MatchKind::TERNARY || key.kind == P4MatchKind::RANGE;
    }
    if (isOrdered && (priority == 0 || priority > LARGEST_PRIORITY))
    {
        throw P4Error(fmt::format("entries of table \"{}\" have a priority from 1 on", table.name));
    }
    return isOrdered ? fmt::format(" {}", LARGEST_PRIORITY - priority) : "";
}

std::string
P4CommandWriter::WriteKeys(const P4Table& table,
                           const std::map<std::string, P4ControlKey>& keys) const
{
    std::vector<const P4ControlKey*> values(table.keys.size());
    for (const auto& [name, value] : keys)
    {
        values[FindP4Item(table.keys, name, "key of the table")] = &value;
    }
    std::string words;
    for (size_t i = 0; i < table.keys.size(); ++i)
    {
        words += " " + WriteKey(table.keys[i], values[i]);
    }
    return words;
}

std::string
P4CommandWriter::WriteKey(const P4TableKey& key, const P4ControlKey* value) const
{
    switch (key.kind)
    {
    case P4MatchKind::EXACT:
        if (value == nullptr || value->other)
        {
            throw P4Error(fmt::format("key \"{}\": one value is expected", key.name));
        }
        return value->value;
    case P4MatchKind::LPM:
        return value == nullptr ? "0/0"
                                : fmt::format("{}/{}",
                                              value->value,
                                              value->other.value_or(std::to_string(key.bits)));
    case P4MatchKind::TERNARY:
        return value == nullptr ? "0&&&0"
                                : fmt::format("{}&&&{}",
                                              value->value,
                                              value->other.value_or(MakeAllOnes(key.bits)));
    case P4MatchKind::RANGE:
        return value == nullptr
                   ? "0->" + MakeAllOnes(key.bits)
                   : fmt::format("{}->{}", value->value, value->other.value_or(value->value));
    }
    throw P4Error("a key of no kind");
}

std::pair<std::string, std::string>
P4CommandWriter::WriteAction(const std::vector<uint32_t>& actions,
                             const std::string& name,
                             const std::map<std::string, std::string>& parameters) const
{
    std::vector<std::string> names;
    names.reserve(actions.size());
    for (const uint32_t index : actions)
    {
        names.push_back(m_program.actions[index].name);
    }
    const auto& action = m_program.actions[actions[FindP4Name(names, name, "action of the table")]];
    std::vector<const std::string*> values(action.parameterNames.size());
    for (const auto& [parameter, value] : parameters)
    {
        values[FindP4Name(action.parameterNames, parameter, "parameter of the action")] = &value;
    }
    std::string words;
    for (size_t i = 0; i < values.size(); ++i)
    {
        if (values[i] == nullptr)
        {
            throw P4Error(fmt::format("the parameter \"{}\" of action \"{}\" is missing",
                                      action.parameterNames[i],
                                      action.name));
        }
        words += " " + *values[i];
    }
    return {action.name, words};
}

void
P4CommandWriter::AddGroup(uint32_t group, const std::vector<P4Replica>& replicas)
{
    AddCommand(fmt::format("mc_mgrp_create {}", group));
    for (const auto& replica : replicas)
    {
        AddCommand(fmt::format("mc_node_create {} {}", replica.replicationId, replica.port));
        AddCommand(fmt::format("mc_node_associate {} {}", group, m_nodes++));
    }
}

void
P4CommandWriter::AddCloneSession(uint32_t session, const std::vector<P4Replica>& replicas)
{
    AddGroup(FIRST_CLONE_GROUP + session, replicas);
    AddCommand(fmt::format("mirroring_add_mc {} {}", session, FIRST_CLONE_GROUP + session));
}

uint32_t
P4CommandWriter::AddMember(const std::string& profile,
                           const std::string& action,
                           const std::map<std::string, std::string>& parameters)
{
    const auto& found =
        m_program.profiles[FindP4Item(m_program.profiles, profile, "action profile")];
    const auto [name, words] = WriteAction(found.actions, action, parameters);
    AddCommand(fmt::format("act_prof_create_member {} {}{}", found.name, name, words));
    return m_counts[found.name].first++;
}

uint32_t
P4CommandWriter::AddMemberGroup(const std::string& profile, const std::vector<uint32_t>& members)
{
    const auto& found =
        m_program.profiles[FindP4Item(m_program.profiles, profile, "action profile")];
    const uint32_t group = m_counts[found.name].second++;
    AddCommand(fmt::format("act_prof_create_group {}", found.name));
    for (const uint32_t member : members)
    {
        AddCommand(fmt::format("act_prof_add_member_to_group {} {} {}", found.name, member, group));
    }
    return group;
}

} // namespace ns3::gradsync
