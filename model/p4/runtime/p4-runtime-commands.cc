// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-runtime-commands.h"

#include "ns3/nearest-name.h"
#include "ns3/p4-error.h"
#include "ns3/p4-limbs.h"
#include "ns3/p4-match-table.h"
#include "ns3/p4-pipeline.h"
#include "ns3/p4-runtime-values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <sstream>

namespace ns3::gradsync
{

namespace
{

/// Commands without a limit to their words.
constexpr size_t ANY = SIZE_MAX;

/// Entries of a table with an action profile have no actions of their own.
void
CheckIsDirect(const P4Table& table)
{
    if (table.profile)
    {
        throw P4Error(fmt::format("the entries of table \"{}\" lead to members of its action "
                                  "profile: table_indirect_add",
                                  table.name));
    }
}

uint32_t
ReadHandle(const std::string& word)
{
    return static_cast<uint32_t>(ReadP4Value(word, 32)[0]);
}

} // namespace

P4RuntimeCommands::P4RuntimeCommands(P4Pipeline& pipeline, std::string file)
    : m_pipeline(pipeline),
      m_file(std::move(file))
{
}

const std::vector<P4RuntimeCommands::Row>&
P4RuntimeCommands::GetRows()
{
    using Self = P4RuntimeCommands;
    static const std::vector<Row> rows{
        {"table_add", "TABLE ACTION KEYS => PARAMETERS [PRIORITY]", 2, ANY, &Self::AddToTable},
        {"table_modify", "TABLE ACTION ENTRY [=>] PARAMETERS", 3, ANY, &Self::ModifyInTable},
        {"table_delete", "TABLE ENTRY", 2, 2, &Self::DeleteFromTable},
        {"table_set_default", "TABLE ACTION [=>] PARAMETERS", 2, ANY, &Self::SetDefault},
        {"table_reset_default", "TABLE", 1, 1, &Self::ResetDefault},
        {"table_clear", "TABLE", 1, 1, &Self::ClearTable},
        {"table_dump", "TABLE", 1, 1, &Self::DumpTable},
        {"table_dump_entry", "TABLE ENTRY", 2, 2, &Self::DumpEntry},
        {"table_num_entries", "TABLE", 1, 1, &Self::CountEntries},
        {"register_read", "REGISTER [INDEX]", 1, 2, &Self::ReadRegister},
        {"register_write", "REGISTER INDEX VALUE", 3, 3, &Self::WriteRegister},
        {"register_reset", "REGISTER", 1, 1, &Self::ResetRegister},
        {"counter_read", "COUNTER INDEX", 2, 2, &Self::ReadCounter},
        {"counter_write", "COUNTER INDEX PACKETS BYTES", 4, 4, &Self::WriteCounter},
        {"counter_reset", "COUNTER", 1, 1, &Self::ResetCounter},
        {"mc_mgrp_create", "GROUP", 1, 1, &Self::CreateGroup},
        {"mc_mgrp_destroy", "GROUP", 1, 1, &Self::DestroyGroup},
        {"mc_node_create", "REPLICATION_ID PORTS", 1, ANY, &Self::CreateNode},
        {"mc_node_update", "NODE PORTS", 1, ANY, &Self::UpdateNode},
        {"mc_node_associate", "GROUP NODE", 2, 2, &Self::AssociateNode},
        {"mc_node_dissociate", "GROUP NODE", 2, 2, &Self::DissociateNode},
        {"mc_node_destroy", "NODE", 1, 1, &Self::DestroyNode},
        {"mirroring_add", "SESSION PORT", 2, 2, &Self::AddMirror},
        {"mirroring_add_mc", "SESSION GROUP", 2, 2, &Self::AddMirrorToGroup},
        {"mirroring_delete", "SESSION", 1, 1, &Self::DeleteMirror},
        {"mirroring_get", "SESSION", 1, 1, &Self::GetMirror},
        {"act_prof_create_member", "PROFILE ACTION PARAMETERS", 2, ANY, &Self::CreateMember},
        {"act_prof_modify_member", "PROFILE ACTION MEMBER PARAMETERS", 3, ANY, &Self::ModifyMember},
        {"act_prof_delete_member", "PROFILE MEMBER", 2, 2, &Self::DeleteMember},
        {"act_prof_create_group", "PROFILE", 1, 1, &Self::CreateMemberGroup},
        {"act_prof_delete_group", "PROFILE GROUP", 2, 2, &Self::DeleteMemberGroup},
        {"act_prof_add_member_to_group", "PROFILE MEMBER GROUP", 3, 3, &Self::AddMemberToGroup},
        {"act_prof_remove_member_from_group",
         "PROFILE MEMBER GROUP",
         3,
         3,
         &Self::RemoveMemberFromGroup},
        {"table_indirect_add", "TABLE KEYS => MEMBER [PRIORITY]", 2, ANY, &Self::AddIndirect},
        {"table_indirect_add_with_group",
         "TABLE KEYS => GROUP [PRIORITY]",
         2,
         ANY,
         &Self::AddIndirectWithGroup},
        {"table_indirect_delete", "TABLE ENTRY", 2, 2, &Self::DeleteFromTable},
        {"table_indirect_set_default", "TABLE MEMBER", 2, 2, &Self::SetIndirectDefault},
        {"table_indirect_set_default_with_group",
         "TABLE GROUP",
         2,
         2,
         &Self::SetIndirectDefaultWithGroup},
        {"table_indirect_reset_default", "TABLE", 1, 1, &Self::ResetDefault},
        {"meter_set_rates", "METER INDEX RATE:BURST ...", 2, ANY, &Self::SetMeterRates},
        {"meter_array_set_rates", "METER RATE:BURST ...", 1, ANY, &Self::SetAllMeterRates},
        {"meter_get_rates", "METER INDEX", 2, 2, &Self::GetMeterRates},
        {"pvs_add", "SET VALUE", 2, 2, &Self::AddToValueSet},
        {"pvs_remove", "SET VALUE", 2, 2, &Self::RemoveFromValueSet},
        {"pvs_clear", "SET", 1, 1, &Self::ClearValueSet},
        {"pvs_get", "SET", 1, 1, &Self::GetValueSet},
        {"reset_state", "", 0, 0, &Self::ResetState},
        // What shows the program, which ./ns3 p4 describe does, or is of queues and time.
        {"show_tables", "", 0, 0, nullptr},
        {"show_actions", "", 0, 0, nullptr},
        {"show_ports", "", 0, 0, nullptr},
        {"show_pvs", "", 0, 0, nullptr},
        {"table_info", "TABLE", 1, 1, nullptr},
        {"table_show_actions", "TABLE", 1, 1, nullptr},
        {"table_set_timeout", "TABLE ENTRY MILLISECONDS", 3, 3, nullptr},
        {"mc_dump", "", 0, 0, nullptr},
        {"set_queue_depth", "PACKETS [PORT [PRIORITY]]", 1, 3, nullptr},
        {"set_queue_rate", "RATE [PORT [PRIORITY]]", 1, 3, nullptr},
        {"port_add", "INTERFACE PORT [PCAP]", 2, 3, nullptr},
        {"port_remove", "PORT", 1, 1, nullptr},
        {"get_time_elapsed", "", 0, 0, nullptr},
        {"get_time_since_epoch", "", 0, 0, nullptr},
        {"switch_info", "", 0, 0, nullptr},
        {"greet", "", 0, ANY, nullptr},
        {"help", "", 0, ANY, nullptr},
        {"EOF", "", 0, 0, nullptr}};
    return rows;
}

bool
P4RuntimeCommands::IsOrdered(const P4Table& table)
{
    return std::ranges::any_of(table.keys, [](const P4TableKey& key) {
        return key.kind == P4MatchKind::TERNARY || key.kind == P4MatchKind::RANGE;
    });
}

std::vector<std::string>
P4RuntimeCommands::Run(std::string_view text)
{
    std::vector<std::string> answers;
    std::istringstream lines{std::string(text)};
    std::string line;
    for (uint32_t number = 1; std::getline(lines, line); ++number)
    {
        std::istringstream stream(line);
        Words words;
        for (std::string word; stream >> word;)
        {
            words.push_back(word);
        }
        if (words.empty() || words[0].starts_with("#"))
        {
            continue;
        }
        try
        {
            std::ranges::move(RunCommand(words), std::back_inserter(answers));
        }
        catch (const P4Error& error)
        {
            throw P4Error(fmt::format("{}:{}", m_file, number), error.what());
        }
    }
    return answers;
}

std::vector<std::string>
P4RuntimeCommands::RunCommand(const Words& words)
{
    std::vector<std::string> names;
    for (const auto& row : GetRows())
    {
        names.emplace_back(row.name);
    }
    const auto found = std::find(names.begin(), names.end(), words[0]);
    if (found == names.end())
    {
        throw P4Error(fmt::format("the command \"{}\" is not supported{}",
                                  words[0],
                                  SuggestName(words[0], names)));
    }
    const Row& row = GetRows()[static_cast<size_t>(found - names.begin())];
    if (words.size() - 1 < row.least || words.size() - 1 > row.most)
    {
        throw P4Error(fmt::format("{} {} is expected", row.name, row.usage));
    }
    m_answers.clear();
    if (row.run != nullptr)
    {
        (this->*row.run)(words);
    }
    return std::move(m_answers);
}

void
P4RuntimeCommands::AddToTable(const Words& words)
{
    const auto arrow = std::find(words.begin(), words.end(), "=>");
    if (arrow == words.end() || arrow - words.begin() < 3)
    {
        throw P4Error("table_add TABLE ACTION KEYS => PARAMETERS [PRIORITY] is expected");
    }
    const P4Table& table = FindTable(words[1]);
    P4TableEntry entry;
    ReadKeys(entry, table, words.begin() + 3, arrow);
    auto end = words.end();
    if (IsOrdered(table))
    {
        if (end - arrow < 2)
        {
            throw P4Error("a priority is expected at the end");
        }
        entry.priority = ReadP4Number(*--end);
    }
    CheckIsDirect(table);
    ReadAction(entry, table.actions, words[2], arrow + 1, end);
    m_newestEntry = FindChangeable(words[1]).Add(std::move(entry));
}

void
P4RuntimeCommands::ModifyInTable(const Words& words)
{
    P4TableEntry entry;
    CheckIsDirect(FindTable(words[1]));
    const bool hasArrow = words.size() > 4 && words[4] == "=>";
    ReadAction(entry,
               FindTable(words[1]).actions,
               words[2],
               words.begin() + (hasArrow ? 5 : 4),
               words.end());
    FindChangeable(words[1]).Modify(ReadHandle(words[3]), entry);
}

void
P4RuntimeCommands::DeleteFromTable(const Words& words)
{
    FindChangeable(words[1]).Delete(ReadHandle(words[2]));
}

void
P4RuntimeCommands::SetDefault(const Words& words)
{
    const P4Table& table = FindTable(words[1]);
    if (table.hasConstantDefault)
    {
        throw P4Error("the table's default action is constant");
    }
    CheckIsDirect(table);
    P4TableEntry entry;
    const bool hasArrow = words.size() > 3 && words[3] == "=>";
    ReadAction(entry, table.actions, words[2], words.begin() + (hasArrow ? 4 : 3), words.end());
    m_pipeline.FindTable(table.name).SetDefault(std::move(entry));
}

void
P4RuntimeCommands::ResetDefault(const Words& words)
{
    m_pipeline.FindTable(FindTable(words[1]).name).ResetDefault();
}

void
P4RuntimeCommands::ClearTable(const Words& words)
{
    FindChangeable(words[1]).Clear();
}

void
P4RuntimeCommands::DumpTable(const Words& words)
{
    const P4Table& table = FindTable(words[1]);
    for (const uint32_t handle : m_pipeline.FindTable(table.name).ListHandles())
    {
        m_answers.push_back(ShowEntry(table, handle));
    }
}

void
P4RuntimeCommands::DumpEntry(const Words& words)
{
    m_answers.push_back(ShowEntry(FindTable(words[1]), ReadHandle(words[2])));
}

void
P4RuntimeCommands::CountEntries(const Words& words)
{
    const auto& table = m_pipeline.FindTable(FindTable(words[1]).name);
    m_answers.push_back(fmt::format("{}", table.ListHandles().size()));
}

std::string
P4RuntimeCommands::ShowEntry(const P4Table& table, uint32_t handle)
{
    const P4TableEntry& entry = m_pipeline.FindTable(table.name).GetEntry(handle);
    std::string text = fmt::format("{} entry {}:", table.name, handle);
    for (size_t i = 0; i < table.keys.size(); ++i)
    {
        const auto& key = table.keys[i];
        const auto& value = entry.keys[i];
        text += fmt::format(" {}={}", key.name, ShowP4Hexadecimal(value.value, key.bits));
        if (key.kind == P4MatchKind::LPM)
        {
            text += fmt::format("/{}", value.prefixLength);
        }
        else if (key.kind != P4MatchKind::EXACT)
        {
            text += (key.kind == P4MatchKind::RANGE ? "->" : "&&&") +
                    ShowP4Hexadecimal(value.other, key.bits);
        }
    }
    if (entry.target != P4EntryTarget::ACTION)
    {
        text += fmt::format(" => {} {}",
                            entry.target == P4EntryTarget::MEMBER ? "member" : "group",
                            entry.member);
        return IsOrdered(table) ? text + fmt::format(", priority {}", entry.priority) : text;
    }
    const P4Action& action = m_pipeline.GetProgram().actions[entry.action];
    text += " => " + action.name;
    auto limb = entry.parameters.begin();
    for (const uint32_t bits : action.parameterBits)
    {
        const auto end = limb + static_cast<ptrdiff_t>(limbs::CountFor(bits));
        text += " " + ShowP4Hexadecimal({limb, end}, bits);
        limb = end;
    }
    return IsOrdered(table) ? text + fmt::format(", priority {}", entry.priority) : text;
}

void
P4RuntimeCommands::ReadKeys(P4TableEntry& entry,
                            const P4Table& table,
                            Words::const_iterator first,
                            Words::const_iterator last) const
{
    if (static_cast<size_t>(last - first) != table.keys.size())
    {
        throw P4Error(fmt::format("table \"{}\" has {} keys", table.name, table.keys.size()));
    }
    for (const auto& key : table.keys)
    {
        entry.keys.push_back(ReadKey(key, *first++));
    }
}

P4EntryKey
P4RuntimeCommands::ReadKey(const P4TableKey& key, const std::string& word) const
{
    static const std::map<P4MatchKind, std::string> marks{{P4MatchKind::LPM, "/"},
                                                          {P4MatchKind::TERNARY, "&&&"},
                                                          {P4MatchKind::RANGE, "->"}};
    P4EntryKey entry;
    const auto mark = marks.find(key.kind);
    if (mark == marks.end())
    {
        entry.value = ReadP4Value(word, key.bits);
        return entry;
    }
    const auto parts = SplitP4Words(word, mark->second);
    if (parts.size() != 2)
    {
        throw P4Error(fmt::format("key \"{}\": VALUE{}... is expected", key.name, mark->second));
    }
    entry.value = ReadP4Value(parts[0], key.bits);
    if (key.kind != P4MatchKind::LPM)
    {
        entry.other = ReadP4Value(parts[1], key.bits);
        return entry;
    }
    entry.prefixLength = ReadP4Number(parts[1]);
    if (entry.prefixLength > key.bits)
    {
        throw P4Error(fmt::format("key \"{}\" has {} bits", key.name, key.bits));
    }
    return entry;
}

void
P4RuntimeCommands::ReadAction(P4TableEntry& entry,
                              const std::vector<uint32_t>& actions,
                              const std::string& name,
                              Words::const_iterator first,
                              Words::const_iterator last) const
{
    std::vector<std::string> names;
    names.reserve(actions.size());
    for (const uint32_t index : actions)
    {
        names.push_back(m_pipeline.GetProgram().actions[index].name);
    }
    entry.action = actions[FindP4Name(names, name, "action of the table")];
    const P4Action& action = m_pipeline.GetProgram().actions[entry.action];
    if (static_cast<size_t>(last - first) != action.parameterBits.size())
    {
        throw P4Error(
            fmt::format("action \"{}\" has {} parameters", name, action.parameterBits.size()));
    }
    for (const uint32_t bits : action.parameterBits)
    {
        const auto value = ReadP4Value(*first++, bits);
        entry.parameters.insert(entry.parameters.end(), value.begin(), value.end());
    }
}

const P4Table&
P4RuntimeCommands::FindTable(const std::string& name) const
{
    const auto& tables = m_pipeline.GetProgram().tables;
    return tables[FindP4Item(tables, name, "table")];
}

P4MatchTable&
P4RuntimeCommands::FindChangeable(const std::string& name)
{
    const P4Table& table = FindTable(name);
    if (table.isConstant)
    {
        throw P4Error("the table's entries are constant");
    }
    return m_pipeline.FindTable(table.name);
}

} // namespace ns3::gradsync
