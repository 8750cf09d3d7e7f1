// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-program-text.h"

#include "ns3/nearest-name.h"
#include "ns3/p4-error.h"
#include "ns3/p4-json.h"
#include "ns3/p4-program-loader.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace ns3::gradsync
{

namespace
{

using Types = std::map<std::string, P4Json>;

/// The items of a list, or none where the program does not have it.
std::vector<P4Json>
ListItems(const P4Json& parent, const std::string& member)
{
    const auto list = parent.Find(member);
    return list ? list->GetItems() : std::vector<P4Json>{};
}

std::string
GetItemName(const P4Json& item)
{
    return item.Get("name").AsText();
}

/// A list of names, or of pieces of a path: a.b
std::string
JoinFieldPath(const P4Json& value)
{
    if (!value.IsArray())
    {
        return value.AsText();
    }
    std::string text;
    for (const auto& part : value.GetItems())
    {
        text += (text.empty() ? "" : ".") + part.AsText();
    }
    return text;
}

/// NAME BITS, ...: the fields of a header type.
std::string
ListFields(const P4Json& type)
{
    std::vector<std::string> fields;
    for (const auto& field : type.Get("fields").GetItems())
    {
        const auto parts = field.GetItems();
        if (parts.size() < 2)
        {
            field.Fail("a field has a name and a number of bits");
        }
        const auto name = parts[0].AsText();
        if (!name.starts_with("_padding"))
        {
            const auto bits =
                parts[1].IsNumber() ? fmt::format("{}", parts[1].AsNumber()) : "varbit";
            fields.push_back(fmt::format("{} {}", name, bits));
        }
    }
    return fields.empty() ? "no fields" : JoinNames(fields);
}

std::string
DescribeHeaders(const P4Json& root)
{
    Types types;
    for (const auto& type : root.Get("header_types").GetItems())
    {
        types.emplace(GetItemName(type), type);
    }
    std::string headers;
    std::string metadata;
    for (const auto& header : root.Get("headers").GetItems())
    {
        const auto type = types.find(header.Get("header_type").AsText());
        if (type == types.end())
        {
            header.Get("header_type").Fail("there is no such type");
        }
        const auto isMetadata = header.Find("metadata");
        auto& text = isMetadata && isMetadata->AsBool() ? metadata : headers;
        text += fmt::format("  {}: {}\n", GetItemName(header), ListFields(type->second));
    }
    for (const auto& stack : ListItems(root, "header_stacks"))
    {
        headers +=
            fmt::format("  {}: a stack of {}\n", GetItemName(stack), stack.Get("size").AsNumber());
    }
    for (const auto& headerUnion : ListItems(root, "header_unions"))
    {
        headers += fmt::format("  {}: a union\n", GetItemName(headerUnion));
    }
    return "headers, with bits of their fields:\n" + headers + "metadata:\n" + metadata;
}

/// The header or the stack that an extract takes.
std::string
GetExtracted(const P4Json& operation)
{
    const auto parameters = operation.Get("parameters").GetItems();
    if (parameters.empty())
    {
        operation.Fail("a header is expected");
    }
    const auto value = parameters[0].Get("value");
    return value.IsObject() ? "a header" : JoinFieldPath(value);
}

std::string
DescribeState(const P4Json& state)
{
    std::string text = "  " + GetItemName(state) + ":";
    for (const auto& operation : ListItems(state, "parser_ops"))
    {
        const auto op = operation.Get("op").AsText();
        text += op == "extract" || op == "extract_VL" ? " extract " + GetExtracted(operation) + ","
                                                      : " " + op + ",";
    }
    std::vector<std::string> next;
    for (const auto& transition : ListItems(state, "transitions"))
    {
        const auto to = transition.Find("next_state");
        const auto name = to ? to->AsText() : "accept";
        if (std::ranges::find(next, name) == next.end())
        {
            next.push_back(name);
        }
    }
    return text + " then " + (next.empty() ? "accept" : JoinNames(next)) + "\n";
}

std::string
DescribeParsers(const P4Json& root)
{
    std::string text = "parser:\n";
    for (const auto& parser : root.Get("parsers").GetItems())
    {
        for (const auto& state : parser.Get("parse_states").GetItems())
        {
            text += DescribeState(state);
        }
    }
    return text;
}

/// NAME(PARAMETER BITS, ...) by id.
std::map<uint32_t, std::string>
ListActions(const P4Json& root)
{
    std::map<uint32_t, std::string> actions;
    for (const auto& action : root.Get("actions").GetItems())
    {
        std::vector<std::string> parameters;
        for (const auto& parameter : action.Get("runtime_data").GetItems())
        {
            parameters.push_back(
                fmt::format("{} {}", GetItemName(parameter), parameter.Get("bitwidth").AsNumber()));
        }
        actions[action.Get("id").AsNumber()] =
            GetItemName(action) + (parameters.empty() ? "()" : "(" + JoinNames(parameters) + ")");
    }
    return actions;
}

std::string
DescribeTable(const P4Json& table, std::map<uint32_t, std::string>& actions)
{
    const auto type = table.Get("type").AsText();
    std::string text = fmt::format("  {}: up to {} entries{}\n",
                                   GetItemName(table),
                                   table.Get("max_size").AsNumber(),
                                   type == "simple"     ? ""
                                   : type == "indirect" ? ", by action profile"
                                                        : ", by action selector");
    for (const auto& key : table.Get("key").GetItems())
    {
        const auto name = key.Find("name");
        text += fmt::format("    key {} {}\n",
                            name ? name->AsText() : JoinFieldPath(key.Get("target")),
                            key.Get("match_type").AsText());
    }
    for (const auto& id : table.Get("action_ids").GetItems())
    {
        text += fmt::format("    action {}\n", actions[id.AsNumber()]);
    }
    if (const auto entry = table.Find("default_entry"))
    {
        text += "    default " + actions[entry->Get("action_id").AsNumber()];
        for (const auto& value : entry->Get("action_data").GetItems())
        {
            text += " " + value.AsText();
        }
        const auto isConstant = entry->Find("action_entry_const");
        text += isConstant && isConstant->AsBool() ? ", constant\n" : "\n";
    }
    if (const auto entries = ListItems(table, "entries"); !entries.empty())
    {
        text += fmt::format("    {} constant entries\n", entries.size());
    }
    return text;
}

/// Whether p4c made it of statements outside of any table.
bool
IsHidden(const P4Json& table)
{
    return table.Get("key").GetItems().empty() && GetItemName(table).starts_with("tbl_");
}

std::string
DescribePipelines(const P4Json& root)
{
    auto actions = ListActions(root);
    std::string text;
    for (const auto& pipeline : root.Get("pipelines").GetItems())
    {
        std::string tables;
        for (const auto& table : pipeline.Get("tables").GetItems())
        {
            tables += IsHidden(table) ? "" : DescribeTable(table, actions);
        }
        text += fmt::format("{} tables:\n{}",
                            GetItemName(pipeline),
                            tables.empty() ? "  none\n" : tables);
        for (const auto& profile : ListItems(pipeline, "action_profiles"))
        {
            text += fmt::format("  action profile {}: up to {} members\n",
                                GetItemName(profile),
                                profile.Get("max_size").AsNumber());
        }
    }
    return text;
}

/// NAME: SIZE cells ..., of arrays; "" when the program has none.
std::string
DescribeArrays(const P4Json& root, const std::string& member, const std::string& title)
{
    std::string text;
    for (const auto& array : ListItems(root, member))
    {
        const auto isDirect = array.Find("is_direct");
        const auto bits = array.Find("bitwidth");
        const bool isOfTable = isDirect && isDirect->AsBool();
        text += fmt::format("  {}: {}{}\n",
                            GetItemName(array),
                            isOfTable ? "one for each entry of " + array.Get("binding").AsText()
                                      : fmt::format("{}", array.Get("size").AsNumber()),
                            bits ? fmt::format(" of {} bits", bits->AsNumber()) : "");
    }
    return text.empty() ? "" : title + ":\n" + text;
}

/// Parser value sets, digests and externs, by name only.
std::string
DescribeNames(const P4Json& root, const std::string& member, const std::string& title)
{
    std::vector<std::string> names;
    for (const auto& item : ListItems(root, member))
    {
        names.push_back(GetItemName(item));
    }
    return names.empty() ? "" : title + ": " + JoinNames(names) + "\n";
}

std::string
DescribePrimitives(const P4Json& root)
{
    std::set<std::string> primitives;
    for (const auto& action : root.Get("actions").GetItems())
    {
        for (const auto& primitive : action.Get("primitives").GetItems())
        {
            primitives.insert(primitive.Get("op").AsText());
        }
    }
    return "primitives: " + JoinNames({primitives.begin(), primitives.end()}) + "\n";
}

} // namespace

std::string
DescribeP4Program(std::string_view text, const std::string& file)
{
    const auto document = ParseP4Json(text, file);
    const P4Json root(document, file);
    std::string description =
        DescribeHeaders(root) + DescribeParsers(root) + DescribePipelines(root) +
        DescribeArrays(root, "register_arrays", "registers") +
        DescribeArrays(root, "counter_arrays", "counters") +
        DescribeArrays(root, "meter_arrays", "meters") +
        DescribeNames(root, "parse_vsets", "parser value sets") +
        DescribeNames(root, "learn_lists", "digests") +
        DescribeNames(root, "extern_instances", "externs") + DescribePrimitives(root);
    try
    {
        const auto program = P4ProgramLoader::Load(text, file);
        description += fmt::format("runs here: {} instructions, {} bytes for each packet\n",
                                   program.code.size(),
                                   program.packetLimbs * sizeof(uint64_t));
    }
    catch (const P4Error& error)
    {
        description += fmt::format("does not run here: {}\n", error.what());
    }
    return description;
}

} // namespace ns3::gradsync
