// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-command-writer.h"
#include "ns3/p4-error.h"
#include "ns3/p4-json.h"
#include "ns3/p4-runtime-text.h"

#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

/// A number, or a text such as "10.0.1.1", as a word of simple_switch_CLI.
std::string
WriteValue(const P4Json& value)
{
    if (value.IsNumber())
    {
        return fmt::format("{}", value.AsNumber());
    }
    auto text = value.AsText();
    if (text.empty() || text.find_first_of(" \t\n") != std::string::npos)
    {
        value.Fail("a number or an address is expected");
    }
    return text;
}

/// VALUE, or [VALUE, PREFIX LENGTH or MASK or END].
P4ControlKey
ReadKey(const P4Json& value)
{
    if (!value.IsArray())
    {
        return {WriteValue(value), {}};
    }
    const auto items = value.GetItems();
    if (items.empty() || items.size() > 2)
    {
        value.Fail("a value and its prefix length, mask or end are expected");
    }
    P4ControlKey key{WriteValue(items[0]), {}};
    if (items.size() == 2)
    {
        key.other = WriteValue(items[1]);
    }
    return key;
}

P4ControlEntry
ReadEntry(const P4Json& item)
{
    P4ControlEntry entry;
    entry.table = item.Get("table").AsText();
    entry.action = item.Get("action_name").AsText();
    if (const auto isDefault = item.Find("default_action"))
    {
        entry.isDefault = isDefault->AsBool();
    }
    if (const auto priority = item.Find("priority"))
    {
        entry.priority = priority->AsNumber();
    }
    if (const auto keys = item.Find("match"))
    {
        for (const auto& [name, value] : keys->GetMembers())
        {
            entry.keys[name] = ReadKey(value);
        }
    }
    if (const auto parameters = item.Find("action_params"))
    {
        for (const auto& [name, value] : parameters->GetMembers())
        {
            entry.parameters[name] = WriteValue(value);
        }
    }
    return entry;
}

std::vector<P4Replica>
ReadReplicas(const P4Json& item)
{
    std::vector<P4Replica> replicas;
    for (const auto& replica : item.Get("replicas").GetItems())
    {
        const auto instance = replica.Find("instance");
        replicas.push_back(
            {replica.Get("egress_port").AsNumber(), instance ? instance->AsNumber() : 0});
    }
    return replicas;
}

/// Each item of a list, whose errors name it.
template <typename Read>
void
ForEach(const P4Json& root, const std::string& member, const Read& read)
{
    const auto list = root.Find(member);
    if (!list)
    {
        return;
    }
    for (const auto& item : list->GetItems())
    {
        try
        {
            read(item);
        }
        catch (const P4Error& error)
        {
            const std::string text = error.what();
            if (text.starts_with(item.GetPath()))
            {
                throw;
            }
            item.Fail(text);
        }
    }
}

} // namespace

std::string
MakeP4JsonCommands(const P4Program& program, const P4NamedText& entries)
{
    const auto document = ParseP4Json(entries.text, entries.file);
    const P4Json root(document, entries.file);
    P4CommandWriter writer(program);
    ForEach(root, "table_entries", [&](const P4Json& item) { writer.AddEntry(ReadEntry(item)); });
    ForEach(root, "multicast_group_entries", [&](const P4Json& item) {
        writer.AddGroup(item.Get("multicast_group_id").AsNumber(), ReadReplicas(item));
    });
    ForEach(root, "clone_session_entries", [&](const P4Json& item) {
        const auto id = item.Find("clone_session_id");
        writer.AddCloneSession((id ? *id : item.Get("session_id")).AsNumber(), ReadReplicas(item));
    });
    if (writer.GetText().empty())
    {
        root.Fail("there are no table_entries, multicast_group_entries or clone_session_entries");
    }
    return writer.GetText();
}

} // namespace ns3::gradsync
