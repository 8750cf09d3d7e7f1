// SPDX-License-Identifier: GPL-2.0-only
// The commands for action profiles, meters and parser value sets.
#include "ns3/p4-error.h"
#include "ns3/p4-match-table.h"
#include "ns3/p4-pipeline.h"
#include "ns3/p4-runtime-commands.h"
#include "ns3/p4-runtime-values.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

/// RATE:BURST, tokens in a microsecond and the most that there are.
P4MeterRate
ReadRate(const std::string& word)
{
    const auto parts = SplitP4Words(word, ":");
    P4MeterRate rate;
    const char* end = parts[0].data() + parts[0].size();
    const auto result = std::from_chars(parts[0].data(), end, rate.tokensPerUs);
    if (parts.size() != 2 || result.ec != std::errc{} || result.ptr != end)
    {
        throw P4Error(fmt::format("\"{}\": RATE:BURST is expected", word));
    }
    rate.burst = ReadP4Value(parts[1], 64)[0];
    return rate;
}

std::vector<P4MeterRate>
ReadRates(const P4RuntimeCommands::Words& words, size_t first)
{
    std::vector<P4MeterRate> rates;
    for (size_t i = first; i < words.size(); ++i)
    {
        rates.push_back(ReadRate(words[i]));
    }
    return rates;
}

} // namespace

P4ActionMembers&
P4RuntimeCommands::FindProfile(const std::string& name)
{
    const auto& profiles = m_pipeline.GetProgram().profiles;
    return m_pipeline.FindProfile(profiles[FindP4Item(profiles, name, "action profile")].name);
}

P4ActionMembers&
P4RuntimeCommands::FindSelector(const std::string& name)
{
    auto& members = FindProfile(name);
    if (!members.GetProfile().hasSelector)
    {
        throw P4Error(fmt::format("the action profile \"{}\" has no selector, hence no groups",
                                  members.GetProfile().name));
    }
    return members;
}

P4ActionMembers&
P4RuntimeCommands::FindProfileOfTable(const P4Table& table)
{
    if (!table.profile)
    {
        throw P4Error(fmt::format("table \"{}\" has no action profile", table.name));
    }
    return m_pipeline.FindProfile(m_pipeline.GetProgram().profiles[*table.profile].name);
}

P4ActionCall
P4RuntimeCommands::ReadCall(const std::vector<uint32_t>& actions,
                            const std::string& name,
                            Words::const_iterator first,
                            Words::const_iterator last) const
{
    P4TableEntry entry;
    ReadAction(entry, actions, name, first, last);
    return {entry.action, std::move(entry.parameters)};
}

void
P4RuntimeCommands::CreateMember(const Words& words)
{
    auto& members = FindProfile(words[1]);
    m_newestEntry = members.AddMember(
        ReadCall(members.GetProfile().actions, words[2], words.begin() + 3, words.end()));
}

void
P4RuntimeCommands::ModifyMember(const Words& words)
{
    auto& members = FindProfile(words[1]);
    const bool hasArrow = words.size() > 4 && words[4] == "=>";
    members.ModifyMember(ReadP4Number(words[3]),
                         ReadCall(members.GetProfile().actions,
                                  words[2],
                                  words.begin() + (hasArrow ? 5 : 4),
                                  words.end()));
}

void
P4RuntimeCommands::DeleteMember(const Words& words)
{
    m_pipeline.DeleteMember(FindProfile(words[1]).GetProfile().name, ReadP4Number(words[2]));
}

void
P4RuntimeCommands::CreateMemberGroup(const Words& words)
{
    m_newestEntry = FindSelector(words[1]).AddGroup();
}

void
P4RuntimeCommands::DeleteMemberGroup(const Words& words)
{
    m_pipeline.DeleteMemberGroup(FindSelector(words[1]).GetProfile().name, ReadP4Number(words[2]));
}

void
P4RuntimeCommands::AddMemberToGroup(const Words& words)
{
    FindSelector(words[1]).AddToGroup(ReadP4Number(words[2]), ReadP4Number(words[3]));
}

void
P4RuntimeCommands::RemoveMemberFromGroup(const Words& words)
{
    FindSelector(words[1]).RemoveFromGroup(ReadP4Number(words[2]), ReadP4Number(words[3]));
}

void
P4RuntimeCommands::AddIndirectTo(P4EntryTarget target, const Words& words)
{
    const P4Table& table = FindTable(words[1]);
    const auto& members = FindProfileOfTable(table);
    const auto arrow = std::find(words.begin(), words.end(), "=>");
    const ptrdiff_t behind = IsOrdered(table) ? 2 : 1;
    if (arrow == words.end() || words.end() - arrow != behind + 1)
    {
        throw P4Error(fmt::format("{} TABLE KEYS => HANDLE{} is expected",
                                  words[0],
                                  behind == 2 ? " PRIORITY" : ""));
    }
    P4TableEntry entry;
    ReadKeys(entry, table, words.begin() + 2, arrow);
    entry.target = target;
    entry.member = ReadP4Number(arrow[1]);
    entry.priority = behind == 2 ? ReadP4Number(arrow[2]) : 0;
    members.Check(entry);
    m_newestEntry = FindChangeable(words[1]).Add(std::move(entry));
}

void
P4RuntimeCommands::AddIndirect(const Words& words)
{
    AddIndirectTo(P4EntryTarget::MEMBER, words);
}

void
P4RuntimeCommands::AddIndirectWithGroup(const Words& words)
{
    AddIndirectTo(P4EntryTarget::GROUP, words);
}

void
P4RuntimeCommands::SetIndirectDefaultTo(P4EntryTarget target, const Words& words)
{
    const P4Table& table = FindTable(words[1]);
    P4TableEntry entry;
    entry.target = target;
    entry.member = ReadP4Number(words[2]);
    FindProfileOfTable(table).Check(entry);
    m_pipeline.FindTable(table.name).SetDefault(std::move(entry));
}

void
P4RuntimeCommands::SetIndirectDefault(const Words& words)
{
    SetIndirectDefaultTo(P4EntryTarget::MEMBER, words);
}

void
P4RuntimeCommands::SetIndirectDefaultWithGroup(const Words& words)
{
    SetIndirectDefaultTo(P4EntryTarget::GROUP, words);
}

uint32_t
P4RuntimeCommands::ReadMeterIndex(const P4MeterArray& array, const std::string& word)
{
    const auto index = static_cast<uint32_t>(ReadP4Value(word, 32)[0]);
    return array.table.empty() ? index : m_pipeline.FindTable(array.table).GetEntry(index).number;
}

P4MeterArrayState&
P4RuntimeCommands::FindMeter(const std::string& name)
{
    const auto& meters = m_pipeline.GetProgram().meters;
    return m_pipeline.FindMeter(meters[FindP4Item(meters, name, "meter")].name);
}

void
P4RuntimeCommands::SetMeterRates(const Words& words)
{
    auto& meters = FindMeter(words[1]);
    meters.SetRates(ReadMeterIndex(meters.GetArray(), words[2]), ReadRates(words, 3));
}

void
P4RuntimeCommands::SetAllMeterRates(const Words& words)
{
    FindMeter(words[1]).SetAllRates(ReadRates(words, 2));
}

void
P4RuntimeCommands::GetMeterRates(const Words& words)
{
    auto& meters = FindMeter(words[1]);
    const auto rates = meters.GetRates(ReadMeterIndex(meters.GetArray(), words[2]));
    for (size_t i = 0; i < rates.size(); ++i)
    {
        m_answers.push_back(fmt::format("{}: info rate = {}, burst size = {}",
                                        i,
                                        rates[i].tokensPerUs,
                                        rates[i].burst));
    }
}

const P4ValueSet&
P4RuntimeCommands::FindValueSet(const std::string& name) const
{
    const auto& sets = m_pipeline.GetProgram().valueSets;
    return sets[FindP4Item(sets, name, "parser value set")];
}

void
P4RuntimeCommands::AddToValueSet(const Words& words)
{
    const auto& set = FindValueSet(words[1]);
    m_pipeline.AddToValueSet(set.name, ReadP4Value(words[2], set.bits));
}

void
P4RuntimeCommands::RemoveFromValueSet(const Words& words)
{
    const auto& set = FindValueSet(words[1]);
    m_pipeline.RemoveFromValueSet(set.name, ReadP4Value(words[2], set.bits));
}

void
P4RuntimeCommands::ClearValueSet(const Words& words)
{
    m_pipeline.ClearValueSet(FindValueSet(words[1]).name);
}

void
P4RuntimeCommands::GetValueSet(const Words& words)
{
    const auto& set = FindValueSet(words[1]);
    for (const auto& value : m_pipeline.GetValueSet(set.name))
    {
        m_answers.push_back(ShowP4Hexadecimal(value, set.bits));
    }
}

} // namespace ns3::gradsync
