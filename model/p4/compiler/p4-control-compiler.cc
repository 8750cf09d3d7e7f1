// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-control-compiler.h"

#include "ns3/p4-calculation-loader.h"
#include "ns3/p4-expression-compiler.h"
#include "ns3/p4-limbs.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

P4MatchKind
ReadMatchKind(const P4Json& kind)
{
    static const std::map<std::string, P4MatchKind> kinds{{"exact", P4MatchKind::EXACT},
                                                          {"valid", P4MatchKind::EXACT},
                                                          {"lpm", P4MatchKind::LPM},
                                                          {"ternary", P4MatchKind::TERNARY},
                                                          {"optional", P4MatchKind::TERNARY},
                                                          {"range", P4MatchKind::RANGE}};
    const auto found = kinds.find(kind.AsText());
    if (found == kinds.end())
    {
        kind.Fail(fmt::format("matching by \"{}\" is not supported", kind.AsText()));
    }
    return found->second;
}

/// A hexadecimal number that must fit in so many bits.
std::vector<uint64_t>
ReadNumber(const P4Json& text, uint32_t bits)
{
    auto [value, isNegative] = ParseHexadecimal(text);
    if (isNegative || (!limbs::IsZero(value.data(), static_cast<uint32_t>(value.size())) &&
                       CountBits(value) > bits))
    {
        text.Fail(fmt::format("a number of {} bits is expected", bits));
    }
    value.resize(limbs::CountFor(bits));
    return std::move(value);
}

} // namespace

P4ControlCompiler::P4ControlCompiler(P4Emitter& emitter,
                                     const std::map<uint32_t, uint32_t>& actionOfId)
    : m_emitter(emitter),
      m_actionOfId(actionOfId)
{
}

uint32_t
P4ControlCompiler::Compile(const P4Json& pipeline)
{
    if (const auto profiles = pipeline.Find("action_profiles"))
    {
        for (const auto& profile : profiles->GetItems())
        {
            LoadProfile(profile);
        }
    }
    for (const auto& node : pipeline.Get("conditionals").GetItems())
    {
        AddNode(node);
        CompileConditional(node);
    }
    for (const auto& node : pipeline.Get("tables").GetItems())
    {
        AddNode(node);
        CompileTable(node);
    }
    if (const auto calls = pipeline.Find("action_calls"))
    {
        for (const auto& node : calls->GetItems())
        {
            AddNode(node);
            CompileCall(node);
        }
    }
    auto& program = m_emitter.GetProgram();
    for (const auto& [instruction, target] : m_jumps)
    {
        program.code[instruction].c = FindNode(target.first, target.second);
    }
    for (const auto& [index, node] : m_tables)
    {
        LoadActions(program.tables[index], node);
    }
    return FindNode(pipeline, "init_table");
}

void
P4ControlCompiler::AddNode(const P4Json& node)
{
    const std::string name = node.Get("name").AsText();
    if (!m_addresses.emplace(name, m_emitter.GetAddress()).second)
    {
        node.Get("name").Fail(fmt::format("\"{}\" is there twice", name));
    }
}

void
P4ControlCompiler::CompileConditional(const P4Json& node)
{
    const uint32_t condition =
        P4ExpressionCompiler(m_emitter).CompileToLimb(node.Get("expression"));
    m_emitter.EndStatement();
    m_jumps.push_back({m_emitter.Emit(P4Op::JUMP_IF_ZERO, 0, condition), {node, "false_next"}});
    m_jumps.push_back({m_emitter.Emit(P4Op::JUMP), {node, "true_next"}});
}

void
P4ControlCompiler::CompileCall(const P4Json& node)
{
    const uint32_t action = FindAction(node.Get("action_id"));
    if (m_emitter.GetProgram().actions[action].limbs > 0)
    {
        node.Get("action_id").Fail("an action with parameters cannot be called without a table");
    }
    m_jumps.push_back({m_emitter.Emit(P4Op::CALL_ACTION, 0, action), {node, "next_node"}});
}

void
P4ControlCompiler::CompileTable(const P4Json& node)
{
    auto& program = m_emitter.GetProgram();
    P4Table table;
    table.name = node.Get("name").AsText();
    table.maxSize = node.Get("max_size").AsNumber();
    if (const auto counters = node.Find("with_counters"))
    {
        table.hasCounters = counters->AsBool();
    }
    LoadKeys(table, node);
    for (const auto& id : node.Get("action_ids").GetItems())
    {
        table.actions.push_back(FindAction(id));
    }
    LoadTargets(table, node);
    LoadDefault(table, node);
    LoadEntries(table, node);
    const auto index = static_cast<uint32_t>(program.tables.size());
    m_emitter.Emit(P4Op::APPLY_TABLE, 0, index);
    program.tables.push_back(std::move(table));
    m_tables.emplace_back(index, node);
}

void
P4ControlCompiler::LoadProfile(const P4Json& node)
{
    auto& program = m_emitter.GetProgram();
    P4ActionProfile profile;
    profile.name = node.Get("name").AsText();
    profile.maxSize = node.Get("max_size").AsNumber();
    if (const auto selector = node.Find("selector"))
    {
        profile.hasSelector = true;
        profile.calculation = static_cast<uint32_t>(program.calculations.size());
        program.calculations.push_back(LoadP4Calculation(m_emitter, *selector));
    }
    m_emitter.AddProfileName(profile.name,
                             static_cast<uint32_t>(program.profiles.size()),
                             node.Get("name"));
    program.profiles.push_back(std::move(profile));
}

void
P4ControlCompiler::LoadTargets(P4Table& table, const P4Json& node)
{
    const P4Json type = node.Get("type");
    if (type.AsText() == "indirect" || type.AsText() == "indirect_ws")
    {
        table.profile = m_emitter.FindProfile(node.Get("action_profile"));
        auto& profile = m_emitter.GetProgram().profiles[*table.profile];
        if (type.AsText() == "indirect_ws" && !profile.hasSelector)
        {
            type.Fail(fmt::format("action profile \"{}\" has no selector", profile.name));
        }
        for (const uint32_t action : table.actions)
        {
            if (std::ranges::find(profile.actions, action) == profile.actions.end())
            {
                profile.actions.push_back(action);
                profile.limbs.push_back(m_emitter.GetProgram().actions[action].limbs);
            }
        }
    }
    else if (type.AsText() != "simple")
    {
        type.Fail(fmt::format("a table of type \"{}\" is not supported", type.AsText()));
    }
    if (const auto meter = node.Find("direct_meters"))
    {
        table.meter = m_emitter.FindMeter(*meter);
        if (m_emitter.GetProgram().meters[*table.meter].table.empty())
        {
            meter->Fail("this is no meter of a table");
        }
    }
}

void
P4ControlCompiler::LoadKeys(P4Table& table, const P4Json& node)
{
    for (const auto& part : node.Get("key").GetItems())
    {
        P4TableKey key;
        key.kind = ReadMatchKind(part.Get("match_type"));
        const P4Json target = part.Get("target");
        if (target.IsObject())
        {
            target.Fail(
                "a key that is an expression, such as a field of a header stack by an index "
                "that is variable, is not supported");
        }
        if (!target.IsArray())
        {
            key.slot = m_emitter.GetProgram().headers[m_emitter.FindHeader(target)].valid;
            key.bits = 1;
        }
        else if (P4Emitter::IsValidity(target))
        {
            const uint32_t header = m_emitter.FindHeader(target.GetItems(2)[0]);
            key.slot = m_emitter.GetProgram().headers[header].valid;
            key.bits = 1;
        }
        else
        {
            const P4Field& field = m_emitter.FindField(target);
            key.slot = field.slot;
            key.bits = field.bits;
            key.limbs = field.limbs;
        }
        if (const auto mask = part.Find("mask"))
        {
            auto bits = ReadNumber(*mask, key.bits);
            // A constant may be shorter than the field; the mask has the field's limbs.
            key.mask = m_emitter.Allocate(key.limbs);
            std::copy(bits.begin(), bits.end(), m_emitter.GetProgram().store.begin() + key.mask);
        }
        const auto name = part.Find("name");
        key.name = name ? name->AsText() : fmt::format("key {}", table.keys.size());
        table.keys.push_back(std::move(key));
    }
}

void
P4ControlCompiler::LoadActions(P4Table& table, const P4Json& node)
{
    const P4Json next = node.Get("next_tables");
    if (next.Find("__HIT__") || next.Find("__MISS__"))
    {
        table.branchesOnHit = true;
        table.nextOnHit = FindNode(next, "__HIT__");
        table.nextOnMiss = FindNode(next, "__MISS__");
        return;
    }
    for (const uint32_t action : table.actions)
    {
        table.nextOfAction.push_back(FindNode(next, m_emitter.GetProgram().actions[action].name));
    }
    // p4c tells where a miss without a default entry leads; else all actions lead to one node.
    table.nextOnMiss = table.nextOfAction.empty() ? 0 : table.nextOfAction[0];
    if (node.Has("base_default_next"))
    {
        table.nextOnMiss = FindNode(node, "base_default_next");
    }
}

void
P4ControlCompiler::LoadDefault(P4Table& table, const P4Json& node)
{
    const auto entry = node.Find("default_entry");
    if (!entry)
    {
        return;
    }
    LoadActionEntry(table, table.defaultEntry, entry->Get("action_id"), entry->Get("action_data"));
    table.hasDefault = true;
    const auto isConstant = entry->Find("action_entry_const");
    table.hasConstantDefault = isConstant && isConstant->AsBool();
}

void
P4ControlCompiler::LoadEntries(P4Table& table, const P4Json& node)
{
    const auto entries = node.Find("entries");
    if (!entries)
    {
        return;
    }
    if (table.profile)
    {
        entries->Fail("entries of a table with an action profile cannot be constant");
    }
    table.isConstant = true;
    for (const auto& item : entries->GetItems())
    {
        P4TableEntry entry;
        const auto keys = item.Get("match_key").GetItems(table.keys.size());
        for (size_t i = 0; i < keys.size(); ++i)
        {
            entry.keys.push_back(LoadEntryKey(table.keys[i], keys[i]));
        }
        const P4Json action = item.Get("action_entry");
        LoadActionEntry(table, entry, action.Get("action_id"), action.Get("action_data"));
        if (const auto priority = item.Find("priority"))
        {
            entry.priority = priority->AsNumber();
        }
        table.entries.push_back(std::move(entry));
    }
}

P4EntryKey
P4ControlCompiler::LoadEntryKey(const P4TableKey& key, const P4Json& node) const
{
    P4EntryKey entry;
    if (key.kind == P4MatchKind::RANGE)
    {
        entry.value = ReadNumber(node.Get("start"), key.bits);
        entry.other = ReadNumber(node.Get("end"), key.bits);
        return entry;
    }
    entry.value = ReadNumber(node.Get("key"), key.bits);
    if (key.kind == P4MatchKind::TERNARY)
    {
        entry.other = ReadNumber(node.Get("mask"), key.bits);
    }
    if (key.kind == P4MatchKind::LPM)
    {
        entry.prefixLength = node.Get("prefix_length").AsNumber(key.bits);
    }
    return entry;
}

void
P4ControlCompiler::LoadActionEntry(const P4Table& table,
                                   P4TableEntry& entry,
                                   const P4Json& id,
                                   const P4Json& data) const
{
    entry.action = FindAction(id);
    if (std::find(table.actions.begin(), table.actions.end(), entry.action) == table.actions.end())
    {
        id.Fail("this action is none of the table's");
    }
    const auto& action = m_emitter.GetProgram().actions[entry.action];
    const auto values = data.GetItems(action.parameterBits.size());
    for (size_t i = 0; i < values.size(); ++i)
    {
        const auto value = ReadNumber(values[i], action.parameterBits[i]);
        entry.parameters.insert(entry.parameters.end(), value.begin(), value.end());
    }
}

uint32_t
P4ControlCompiler::FindAction(const P4Json& id) const
{
    const auto found = m_actionOfId.find(id.AsNumber());
    if (found == m_actionOfId.end())
    {
        id.Fail(fmt::format("there is no action {}", id.AsNumber()));
    }
    return found->second;
}

uint32_t
P4ControlCompiler::FindNode(const P4Json& parent, const std::string& member) const
{
    const auto name = parent.Find(member);
    if (!name)
    {
        return 0;
    }
    const auto found = m_addresses.find(name->AsText());
    if (found == m_addresses.end())
    {
        name->Fail(fmt::format("there is no table or condition \"{}\"", name->AsText()));
    }
    return found->second;
}

} // namespace ns3::gradsync
