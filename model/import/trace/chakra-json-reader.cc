// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/chakra-files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace ns3::gradsync
{

namespace
{

using TraceJson = nlohmann::json;

/// Of a node's attributes: their lists are two levels below it.
constexpr int MAX_NODE_DEPTH = 16;

/// Where the object or list that begins a text ends; the end of the text if it does not.
size_t
FindDocumentEnd(std::string_view text)
{
    size_t depth = 0;
    bool isInString = false;
    for (size_t i = 0; i < text.size(); ++i)
    {
        const auto character = text[i];
        if (isInString)
        {
            i += character == '\\' ? 1 : 0;
            isInString = character != '"';
            continue;
        }
        isInString = character == '"';
        depth += character == '{' || character == '[' ? 1 : 0;
        if ((character == '}' || character == ']') && --depth == 0)
        {
            return i + 1;
        }
        if (depth == 0)
        {
            break; // neither
        }
    }
    return text.size();
}

/// Whole numbers, which protobuf writes as texts where they have 64 bits.
std::optional<int64_t>
ToInteger(const TraceJson& value)
{
    if (value.is_boolean())
    {
        return value.get<bool>() ? 1 : 0;
    }
    if (value.is_number_unsigned())
    {
        return static_cast<int64_t>(value.get<uint64_t>());
    }
    if (value.is_number_integer())
    {
        return value.get<int64_t>();
    }
    if (!value.is_string())
    {
        return {};
    }
    const auto& text = value.get_ref<const std::string&>();
    const auto* end = text.data() + text.size();
    int64_t number = 0;
    if (!text.empty() && std::from_chars(text.data(), end, number).ptr == end)
    {
        return number;
    }
    uint64_t large = 0;
    if (!text.empty() && std::from_chars(text.data(), end, large).ptr == end)
    {
        return static_cast<int64_t>(large);
    }
    return {};
}

/// One node of either form.
class JsonNode
{
  public:
    JsonNode(const TraceJson& json, const TraceProgramBuilder& builder)
        : m_json(json),
          m_builder(builder)
    {
    }

    void Read(ChakraNode& node) const
    {
        node.Clear();
        const auto* id = Find({"id", "Id"});
        // Protobuf leaves out what is 0.
        node.id = id != nullptr ? GetUnsigned(*id, "id") : 0;
        node.name = GetText({"name", "Name"});
        node.type = GetType();
        ReadIds({"ctrlDeps", "ctrl_deps"}, node.controlDependencies);
        ReadIds({"dataDeps", "data_deps"}, node.dataDependencies);
        if (const auto* time = Find({"durationMicros", "duration_micros", "runtime"}))
        {
            node.durationMicros = GetUnsigned(*time, "durationMicros");
        }
        ReadMembers(node);
        ReadAttributes(node);
    }

  private:
    const TraceJson* Find(std::initializer_list<const char*> names) const
    {
        for (const auto* name : names)
        {
            const auto found = m_json.find(name);
            if (found != m_json.end())
            {
                return &*found;
            }
        }
        return nullptr;
    }

    [[noreturn]] void Fail(const TraceJson& found, const std::string& what) const
    {
        const auto* id = Find({"id", "Id"});
        m_builder.Fail(fmt::format("node {}: {}: found {}, expected {}",
                                   id == nullptr ? "0" : Show(*id),
                                   what,
                                   Show(found),
                                   what == "type" ? "a NodeType, as \"COMP_NODE\" or 4"
                                                  : "whole numbers of 64 bits"));
    }

    static std::string Show(const TraceJson& value)
    {
        return value.dump(-1, ' ', true, TraceJson::error_handler_t::replace).substr(0, 60);
    }

    uint64_t GetUnsigned(const TraceJson& value, const std::string& what) const
    {
        const auto number = ToInteger(value);
        if (!number || value.is_boolean() ||
            (value.is_number_integer() && *number < 0 && !value.is_number_unsigned()))
        {
            Fail(value, what);
        }
        return static_cast<uint64_t>(*number);
    }

    std::string GetText(std::initializer_list<const char*> names) const
    {
        const auto* found = Find(names);
        return found != nullptr && found->is_string() ? found->get<std::string>() : "";
    }

    int64_t GetType() const
    {
        static constexpr std::array<std::string_view, 8> NAMES{"INVALID_NODE",
                                                               "METADATA_NODE",
                                                               "MEM_LOAD_NODE",
                                                               "MEM_STORE_NODE",
                                                               "COMP_NODE",
                                                               "COMM_SEND_NODE",
                                                               "COMM_RECV_NODE",
                                                               "COMM_COLL_NODE"};
        const auto* type = Find({"type", "NodeType"});
        if (type == nullptr)
        {
            m_builder.Fail(
                "has a node without a type: a PyTorch execution trace, or none, expected "
                "a Chakra trace, which has NodeType or type in each");
        }
        if (type->is_string())
        {
            const auto found = std::ranges::find(NAMES, type->get_ref<const std::string&>());
            if (found != NAMES.end())
            {
                return found - NAMES.begin();
            }
        }
        const auto number = ToInteger(*type);
        if (!number)
        {
            Fail(*type, "type");
        }
        return *number;
    }

    void ReadIds(std::initializer_list<const char*> names, std::vector<uint64_t>& ids) const
    {
        const auto* list = Find(names);
        if (list == nullptr)
        {
            return;
        }
        if (!list->is_array())
        {
            Fail(*list, *names.begin());
        }
        for (const auto& id : *list)
        {
            ids.push_back(GetUnsigned(id, *names.begin()));
        }
    }

    /// The feeder's form has attributes among the members.
    void ReadMembers(ChakraNode& node) const
    {
        for (const auto* name :
             {"is_cpu_op", "comm_type", "comm_size", "comm_src", "comm_dst", "comm_tag", "pg_name"})
        {
            const auto* value = Find({name});
            if (value == nullptr)
            {
                continue;
            }
            if (value->is_string())
            {
                node.SetText(name, value->get<std::string>());
            }
            else if (const auto number = ToInteger(*value))
            {
                node.SetNumber(name, *number);
            }
        }
    }

    /// `[{"name": "comm_size", "int64Val": "1048576"}]`
    void ReadAttributes(ChakraNode& node) const
    {
        const auto* list = Find({"attr"});
        if (list == nullptr || !list->is_array())
        {
            return;
        }
        for (const auto& attribute : *list)
        {
            const auto name = attribute.is_object() ? attribute.find("name") : attribute.end();
            if (name == attribute.end() || !name->is_string())
            {
                continue;
            }
            for (const auto& [key, value] : attribute.items())
            {
                if (key != "name" && !key.starts_with("doc"))
                {
                    TakeValue(name->get_ref<const std::string&>(), value, node);
                }
            }
        }
    }

    static void TakeValue(const std::string& name, const TraceJson& value, ChakraNode& node)
    {
        if (value.is_string())
        {
            node.SetText(name, value.get<std::string>());
        }
        else if (const auto number = ToInteger(value))
        {
            node.SetNumber(name, *number);
        }
        else if (name == "involved_dim" && value.is_object() && value.contains("values"))
        {
            const auto& values = value["values"];
            node.leavesOutDimensions |= std::ranges::any_of(values, [](const TraceJson& one) {
                return one.is_boolean() && !one.get<bool>();
            });
        }
    }

    const TraceJson& m_json;
    const TraceProgramBuilder& m_builder;
};

/// Keeps no more of a document than one node.
class NodeCallback
{
  public:
    explicit NodeCallback(ChakraProgram& program)
        : m_program(program)
    {
    }

    /// \returns whether to keep it
    bool operator()(int depth, TraceJson::parse_event_t event, TraceJson& parsed)
    {
        if (depth > MAX_NODE_DEPTH)
        {
            m_program.GetBuilder().Fail(
                fmt::format("has values nested more than {} deep", MAX_NODE_DEPTH));
        }
        if (event == TraceJson::parse_event_t::key && depth == 1)
        {
            m_isGraph = parsed == "workload_graph" || parsed == "nodes" || parsed == "node";
        }
        // One message after the other, or a list of them in an object.
        const bool isNode =
            depth == 0 ? parsed.is_object() && (parsed.contains("type") || parsed.contains("id"))
                       : depth == 2 && m_isGraph;
        if (event != TraceJson::parse_event_t::object_end || !isNode)
        {
            return true;
        }
        JsonNode(parsed, m_program.GetBuilder()).Read(m_node);
        m_program.Add(m_node);
        return false;
    }

  private:
    ChakraProgram& m_program;
    ChakraNode m_node;
    bool m_isGraph{false};
};

} // namespace

void
ReadChakraJson(std::string_view text, ChakraProgram& program)
{
    constexpr const char* BLANKS = " \t\r\n";
    NodeCallback callback(program);
    const auto keep = [&callback](int depth, TraceJson::parse_event_t event, TraceJson& parsed) {
        return callback(depth, event, parsed);
    };
    for (auto begin = text.find_first_not_of(BLANKS); begin < text.size();)
    {
        const auto document = text.substr(begin, FindDocumentEnd(text.substr(begin)));
        try
        {
            const auto rest = TraceJson::parse(document, keep);
        }
        catch (const TraceJson::exception& error)
        {
            program.GetBuilder().Fail(
                fmt::format("is no JSON of a Chakra trace, in what begins at byte {}: {}",
                            begin,
                            error.what()));
        }
        begin = text.find_first_not_of(BLANKS, begin + document.size());
    }
    if (program.GetBuilder().CountNodes() == 0)
    {
        program.GetBuilder().Fail("has no nodes: expected {\"workload_graph\": [...]}, or the "
                                  "messages of a Chakra trace one after the other");
    }
}

} // namespace ns3::gradsync
