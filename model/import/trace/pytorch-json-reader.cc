// SPDX-License-Identifier: GPL-2.0-only
// The JSON of PyTorch's ExecutionTraceObserver, schemas 1.0 and 1.1.
#include "ns3/pytorch-node.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace ns3::gradsync
{

namespace
{

using OperatorJson = nlohmann::json;

/// Of a node: tensors are in lists of lists.
constexpr int MAX_OPERATOR_DEPTH = 16;

constexpr std::string_view COLLECTIVE_NODE = "record_param_comms";
constexpr std::string_view GROUP_NODE = "## process_group:init ##";

const OperatorJson*
FindMember(const OperatorJson& object, const char* name)
{
    const auto found = object.is_object() ? object.find(name) : object.end();
    return object.is_object() && found != object.end() ? &*found : nullptr;
}

std::optional<uint64_t>
ToUnsigned(const OperatorJson* value)
{
    const bool isNumber = value != nullptr && value->is_number_integer() &&
                          (value->is_number_unsigned() || value->get<int64_t>() >= 0);
    return isNumber ? std::optional(value->get<uint64_t>()) : std::nullopt;
}

std::string
ToText(const OperatorJson* value)
{
    return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

std::vector<uint64_t>
ToNumbers(const OperatorJson& list)
{
    std::vector<uint64_t> numbers;
    for (const auto& item : list)
    {
        if (const auto number = ToUnsigned(&item))
        {
            numbers.push_back(*number);
        }
    }
    return numbers;
}

/// One node of the list.
class OperatorReader
{
  public:
    OperatorReader(const OperatorJson& json, const TraceProgramBuilder& builder)
        : m_json(json),
          m_builder(builder)
    {
    }

    PyTorchNode Read(std::map<std::string, PyTorchGroup>& groups) const
    {
        PyTorchNode node;
        node.name = ToText(FindMember(m_json, "name"));
        node.id = Require("id");
        // What it is called within: of schema 1.0 `parent`.
        node.parent =
            FindMember(m_json, "ctrl_deps") != nullptr ? Require("ctrl_deps") : Require("parent");
        node.order = GetNumber("rf_id").value_or(0);
        for (const auto* linked : {"inclusive_dur", "exclusive_dur", "dur"})
        {
            if (FindMember(m_json, linked) != nullptr)
            {
                m_builder.Fail(fmt::format("{} has \"{}\": a trace that chakra_trace_link has "
                                           "linked with times; expected the Chakra trace that "
                                           "chakra_converter makes of it",
                                           m_builder.Locate(node.id, node.name),
                                           linked));
            }
        }
        const auto kind = ClassifyOperator(node.name);
        if (kind != PyTorchOperator::Other && kind != PyTorchOperator::Unrated)
        {
            node.inputs = ReadTensors("inputs");
            node.outputs = ReadTensors("outputs");
            node.flags = ReadFlags();
        }
        if (node.name == COLLECTIVE_NODE)
        {
            node.collective = ReadCollective();
        }
        if (node.name == GROUP_NODE)
        {
            ReadGroups(groups);
        }
        return node;
    }

  private:
    uint64_t Require(const char* name) const
    {
        const auto number = ToUnsigned(FindMember(m_json, name));
        if (!number)
        {
            const auto shown =
                m_json.dump(-1, ' ', true, OperatorJson::error_handler_t::replace).substr(0, 60);
            m_builder.Fail(fmt::format("a node without \"{}\", a whole number: {}", name, shown));
        }
        return *number;
    }

    /// What `attrs` has, or of schema 1.0 the node itself.
    const OperatorJson* FindAttribute(const char* name) const
    {
        if (const auto* list = FindMember(m_json, "attrs"); list != nullptr && list->is_array())
        {
            for (const auto& attribute : *list)
            {
                if (ToText(FindMember(attribute, "name")) == name)
                {
                    return FindMember(attribute, "value");
                }
            }
        }
        return FindMember(m_json, name);
    }

    std::optional<uint64_t> GetNumber(const char* name) const
    {
        return ToUnsigned(FindAttribute(name));
    }

    /// `values`, `shapes` or `types` of "inputs" or "outputs"; of schema 1.0 "input_shapes".
    const OperatorJson* FindList(const std::string& side, const std::string& what) const
    {
        const auto* object = FindMember(m_json, side.c_str());
        const auto* list =
            FindMember(m_json, (side.substr(0, side.size() - 1) + "_" + what).c_str());
        if (object != nullptr && object->is_object())
        {
            list = FindMember(*object, what.c_str());
        }
        else if (what == "values")
        {
            list = object;
        }
        return list != nullptr && list->is_array() ? list : nullptr;
    }

    /// Arguments that are one tensor.
    std::vector<PyTorchTensor> ReadTensors(const char* side) const
    {
        constexpr std::string_view mark = "Tensor(";
        std::vector<PyTorchTensor> tensors;
        const auto* types = FindList(side, "types");
        const auto* shapes = FindList(side, "shapes");
        for (size_t i = 0; types != nullptr && shapes != nullptr && i < types->size(); ++i)
        {
            const auto type = ToText(&(*types)[i]);
            const bool isTensor = type.starts_with(mark) && type.ends_with(')') &&
                                  type.find("nullptr") == std::string::npos;
            if (isTensor && i < shapes->size() && (*shapes)[i].is_array())
            {
                tensors.push_back({type.substr(mark.size(), type.size() - mark.size() - 1),
                                   ToNumbers((*shapes)[i])});
            }
        }
        return tensors;
    }

    std::vector<bool> ReadFlags() const
    {
        std::vector<bool> flags;
        const auto add = [&flags](const OperatorJson& value) {
            if (value.is_boolean())
            {
                flags.push_back(value.get<bool>());
            }
        };
        if (const auto* values = FindList("inputs", "values"))
        {
            for (const auto& value : *values)
            {
                add(value);
                for (const auto& item : value.is_array() ? value : OperatorJson::array())
                {
                    add(item);
                }
            }
        }
        return flags;
    }

    PyTorchCollective ReadCollective() const
    {
        PyTorchCollective made;
        made.kind = ToText(FindAttribute("collective_name"));
        made.dtype = ToText(FindAttribute("dtype"));
        made.group = ToText(FindAttribute("pg_name"));
        made.elements = GetNumber("in_msg_nelems");
        made.start = GetNumber("global_rank_start").value_or(0);
        made.stride = GetNumber("global_rank_stride").value_or(1);
        made.size = GetNumber("pg_size").value_or(0);
        // "[1, 2]"
        const auto parts =
            OperatorJson::parse(ToText(FindAttribute("in_split_size")), nullptr, false);
        if (parts.is_array())
        {
            made.parts = ToNumbers(parts);
        }
        const auto* values = FindList("inputs", "values");
        const auto* types = FindList("inputs", "types");
        for (size_t i = 0; values != nullptr && types != nullptr && i < types->size(); ++i)
        {
            if (ToText(&(*types)[i]) == "Int" && i < values->size() &&
                (*values)[i].is_number_integer())
            {
                made.sequence = (*values)[i].get<int64_t>();
                break;
            }
        }
        return made;
    }

    /// `[{"pg_name": "0", "ranks": [0, 1], "group_size": 2}]`, as a text.
    void ReadGroups(std::map<std::string, PyTorchGroup>& groups) const
    {
        const auto* values = FindList("inputs", "values");
        const auto list = OperatorJson::parse(
            values == nullptr || values->empty() ? "" : ToText(&values->front()),
            nullptr,
            false);
        for (const auto& item : list.is_array() ? list : OperatorJson::array())
        {
            PyTorchGroup group;
            const auto* ranks = FindMember(item, "ranks");
            for (const auto rank : ranks == nullptr ? std::vector<uint64_t>() : ToNumbers(*ranks))
            {
                group.ranks.push_back(static_cast<uint32_t>(
                    std::min<uint64_t>(rank, std::numeric_limits<uint32_t>::max())));
            }
            const auto size =
                ToUnsigned(FindMember(item, "group_size")).value_or(group.ranks.size());
            group.size = static_cast<uint32_t>(
                std::min<uint64_t>(size, std::numeric_limits<uint32_t>::max()));
            groups[ToText(FindMember(item, "pg_name"))] = std::move(group);
        }
    }

    const OperatorJson& m_json;
    const TraceProgramBuilder& m_builder;
};

/// Keeps no more of a document than one node.
class OperatorCallback
{
  public:
    OperatorCallback(const TraceProgramBuilder& builder, PyTorchNodes& made)
        : m_builder(builder),
          m_made(made)
    {
    }

    bool operator()(int depth, OperatorJson::parse_event_t event, OperatorJson& parsed)
    {
        if (depth > MAX_OPERATOR_DEPTH)
        {
            m_builder.Fail(fmt::format("has values nested more than {} deep", MAX_OPERATOR_DEPTH));
        }
        if (event == OperatorJson::parse_event_t::key && depth == 1)
        {
            m_isInNodes = parsed == "nodes";
        }
        if (event != OperatorJson::parse_event_t::object_end || depth != 2 || !m_isInNodes)
        {
            return true;
        }
        if (m_made.nodes.size() >= MAX_TRACE_NODES)
        {
            m_builder.Fail(fmt::format("has more than {} nodes", MAX_TRACE_NODES));
        }
        m_made.nodes.push_back(OperatorReader(parsed, m_builder).Read(m_made.groups));
        return false;
    }

  private:
    const TraceProgramBuilder& m_builder;
    PyTorchNodes& m_made;
    bool m_isInNodes{false};
};

} // namespace

PyTorchNodes
ReadPyTorchNodes(std::string_view text, const TraceProgramBuilder& builder)
{
    PyTorchNodes made;
    OperatorCallback callback(builder, made);
    try
    {
        const auto rest = OperatorJson::parse(
            text,
            [&callback](int depth, OperatorJson::parse_event_t event, OperatorJson& parsed) {
                return callback(depth, event, parsed);
            });
    }
    catch (const OperatorJson::exception& error)
    {
        builder.Fail(fmt::format("is no JSON of a PyTorch execution trace: {}", error.what()));
    }
    if (made.nodes.empty())
    {
        builder.Fail("has no nodes: expected a PyTorch execution trace, {\"schema\": ..., "
                     "\"nodes\": [...]}");
    }
    return made;
}

} // namespace ns3::gradsync
