// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_SMALL_PROGRAM_H
#define GRADSYNC_P4_SMALL_PROGRAM_H

#include "ns3/p4-pipeline.h"
#include "ns3/p4-program-loader.h"

#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * A v1model program in BMv2 JSON with what p4c always writes: standard metadata, a parser with the
 * state "start", a deparser, ingress with one action and an empty egress. Packets go to port 1.
 */
class P4SmallProgram
{
  public:
    using Json = nlohmann::json;

    P4SmallProgram()
    {
        m_json["__meta__"] = {{"version", {2, 23}}};
        for (const auto* list : {"header_types",
                                 "headers",
                                 "header_stacks",
                                 "register_arrays",
                                 "counter_arrays",
                                 "calculations",
                                 "checksums",
                                 "actions",
                                 "pipelines"})
        {
            m_json[list] = Json::array();
        }
        m_json["errors"] = List({List({"NoError", 0}),
                                 List({"PacketTooShort", 1}),
                                 List({"NoMatch", 2}),
                                 List({"StackOutOfBounds", 3}),
                                 List({"HeaderTooShort", 4}),
                                 List({"ParserTimeout", 5}),
                                 List({"ParserInvalidArgument", 6})});
        AddType("standard_metadata",
                {{"ingress_port", 9, false},
                 {"egress_spec", 9, false},
                 {"egress_port", 9, false},
                 {"parser_error", 32, false},
                 {"_padding", 5, false}});
        AddHeader("standard_metadata", "standard_metadata", true);
        m_json["parsers"].push_back({{"name", "parser"},
                                     {"id", 0},
                                     {"init_state", "start"},
                                     {"parse_states", Json::array()}});
        m_json["deparsers"].push_back({{"name", "deparser"}, {"id", 0}, {"order", Json::array()}});
        AddPipeline("ingress", "call");
        AddPipeline("egress", nullptr);
        Json call{{"name", "call"}, {"id", 0}, {"action_id", 0}, {"next_node", nullptr}};
        m_json["pipelines"][0]["action_calls"].push_back(call);
        AddAction("main", {});
        Assign(Field("standard_metadata", "egress_spec"), Number(1));
    }

    /// An array: braces alone make an object of a list of pairs.
    static Json List(Json::initializer_list_t items)
    {
        return Json::array(items);
    }

    static Json Field(const std::string& header, const std::string& field)
    {
        return {{"type", "field"}, {"value", List({header, field})}};
    }

    static Json Number(uint64_t value)
    {
        return {{"type", "hexstr"}, {"value", fmt::format("{:#x}", value)}};
    }

    static Json Named(const std::string& type, const std::string& name)
    {
        return {{"type", type}, {"value", name}};
    }

    static Json Expression(const std::string& op, const Json& left, const Json& right)
    {
        return {{"type", "expression"}, {"value", {{"op", op}, {"left", left}, {"right", right}}}};
    }

    /// The header of a stack at an index.
    static Json At(const std::string& stack, const Json& index)
    {
        return Expression("dereference_header_stack", Named("header_stack", stack), index);
    }

    void AddType(const std::string& name, const std::vector<Json>& fields)
    {
        m_json["header_types"].push_back(
            {{"name", name}, {"id", m_json["header_types"].size()}, {"fields", fields}});
    }

    /// Returns the header's id.
    size_t AddHeader(const std::string& name, const std::string& type, bool isMetadata = false)
    {
        const size_t id = m_json["headers"].size();
        m_json["headers"].push_back(
            {{"name", name}, {"id", id}, {"header_type", type}, {"metadata", isMetadata}});
        return id;
    }

    void AddStack(const std::string& name, const std::string& type, size_t size)
    {
        Json ids = Json::array();
        for (size_t i = 0; i < size; ++i)
        {
            ids.push_back(AddHeader(fmt::format("{}[{}]", name, i), type));
        }
        m_json["header_stacks"].push_back({{"name", name},
                                           {"id", m_json["header_stacks"].size()},
                                           {"header_type", type},
                                           {"header_ids", ids}});
    }

    /// A state; \param transitions pairs of a value or null, the default, and a state or null
    void AddState(const std::string& name,
                  const std::vector<Json>& operations,
                  const std::vector<Json>& key = {},
                  const std::vector<std::pair<Json, Json>>& transitions = {{nullptr, nullptr}})
    {
        auto& states = m_json["parsers"][0]["parse_states"];
        Json list = Json::array();
        for (const auto& [value, next] : transitions)
        {
            list.push_back({{"type", value.is_null() ? "default" : "hexstr"},
                            {"value", value},
                            {"mask", nullptr},
                            {"next_state", next}});
        }
        states.push_back({{"name", name},
                          {"id", states.size()},
                          {"parser_ops", operations},
                          {"transition_key", key},
                          {"transitions", list}});
    }

    static Json Extract(const std::string& type, const Json& value)
    {
        return {{"op", "extract"}, {"parameters", List({{{"type", type}, {"value", value}}})}};
    }

    void Emit(const std::vector<std::string>& headers)
    {
        m_json["deparsers"][0]["order"] = headers;
    }

    size_t AddAction(const std::string& name, const std::vector<Json>& parameters)
    {
        const size_t id = m_json["actions"].size();
        m_json["actions"].push_back({{"name", name},
                                     {"id", id},
                                     {"runtime_data", parameters},
                                     {"primitives", Json::array()}});
        return id;
    }

    /// A primitive of an action; the first one is what ingress calls.
    void Do(const std::string& op, const std::vector<Json>& parameters, size_t action = 0)
    {
        m_json["actions"][action]["primitives"].push_back({{"op", op}, {"parameters", parameters}});
    }

    void Assign(const Json& to, const Json& from, size_t action = 0)
    {
        Do("assign", {to, from}, action);
    }

    /// A table of ingress, which begins with it; all actions lead to its end.
    void AddTable(const std::string& name,
                  const std::string& type,
                  const Json& key,
                  const std::vector<size_t>& actions,
                  const Json& more = Json::object())
    {
        Json next = Json::object();
        for (const size_t action : actions)
        {
            next[m_json["actions"][action]["name"].get<std::string>()] = nullptr;
        }
        Json table{{"name", name},
                   {"id", 0},
                   {"type", type},
                   {"max_size", 1024},
                   {"key", List({{{"match_type", "exact"}, {"target", key}, {"mask", nullptr}}})},
                   {"action_ids", actions},
                   {"base_default_next", nullptr},
                   {"next_tables", next}};
        table.update(more);
        m_json["pipelines"][0]["tables"].push_back(table);
        m_json["pipelines"][0]["init_table"] = name;
    }

    Json& Get()
    {
        return m_json;
    }

    std::unique_ptr<P4Pipeline> Load() const
    {
        return std::make_unique<P4Pipeline>(
            std::make_shared<const P4Program>(P4ProgramLoader::Load(m_json.dump(), "p.json")));
    }

    using Bytes = std::vector<uint8_t>;

    /// What a pipeline makes of one packet; empty when it drops it.
    static Bytes Send(P4Pipeline& pipeline, const Bytes& frame, uint64_t timeUs = 0)
    {
        const auto out = pipeline.Process(frame, 0, timeUs);
        return out.empty() ? Bytes{} : out[0].bytes;
    }

  private:
    void AddPipeline(const std::string& name, const Json& first)
    {
        m_json["pipelines"].push_back({{"name", name},
                                       {"id", m_json["pipelines"].size()},
                                       {"init_table", first},
                                       {"tables", Json::array()},
                                       {"action_profiles", Json::array()},
                                       {"conditionals", Json::array()},
                                       {"action_calls", Json::array()}});
    }

    Json m_json;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_SMALL_PROGRAM_H
