// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/chakra-program.h"

#include "ns3/chakra-types.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t PICOSECONDS_PER_MICROSECOND = 1'000'000;

/// Nothing where the catalogue has no scheme.
std::optional<TraceCollective>
ToCollective(int64_t type)
{
    const auto* found = std::ranges::find(CHAKRA_COMM_TYPES, type, &ChakraCommType::number);
    return found == CHAKRA_COMM_TYPES.end() ? std::nullopt : std::optional(found->collective);
}

} // namespace

void
ChakraNode::Clear()
{
    ChakraNode empty;
    std::swap(empty.name, name);
    std::swap(empty.group, group);
    std::swap(empty.controlDependencies, controlDependencies);
    std::swap(empty.dataDependencies, dataDependencies);
    empty.name.clear();
    empty.group.clear();
    empty.controlDependencies.clear();
    empty.dataDependencies.clear();
    *this = std::move(empty);
}

void
ChakraNode::SetNumber(std::string_view attribute, int64_t number)
{
    if (attribute == "comm_type")
    {
        collectiveType = number;
    }
    else if (attribute == "comm_size")
    {
        // A negative size is no size.
        bytes = number < 0 ? std::nullopt : std::optional(static_cast<uint64_t>(number));
    }
    else if (attribute == "comm_tag")
    {
        tag = number;
    }
    else if (attribute == "is_cpu_op")
    {
        onHost = number != 0;
    }
    else if (attribute == "pg_name")
    {
        group = std::to_string(number);
    }
    else if ((attribute == "comm_dst" && type == ChakraType::SENDING) ||
             (attribute == "comm_src" && type == ChakraType::RECEIVING))
    {
        peer = number;
    }
}

void
ChakraNode::SetText(std::string_view attribute, std::string text)
{
    if (attribute == "pg_name")
    {
        group = std::move(text);
        return;
    }
    int64_t number = 0;
    const auto* end = text.data() + text.size();
    if (std::from_chars(text.data(), end, number).ptr == end && !text.empty())
    {
        SetNumber(attribute, number);
    }
}

ChakraProgram::ChakraProgram(std::string file, const ChakraOptions& options)
    : m_builder(std::move(file)),
      m_options(options)
{
}

void
ChakraProgram::Add(const ChakraNode& node)
{
    if (node.durationMicros > MAX_TRACE_PICOSECONDS / PICOSECONDS_PER_MICROSECOND ||
        node.bytes.value_or(0) > MAX_TRACE_BYTES)
    {
        m_builder.Fail(fmt::format("{} takes {} us and moves {} bytes, at most {} us and {} bytes "
                                   "are allowed",
                                   m_builder.Locate(node.id, node.name),
                                   node.durationMicros,
                                   node.bytes.value_or(0),
                                   MAX_TRACE_PICOSECONDS / PICOSECONDS_PER_MICROSECOND,
                                   MAX_TRACE_BYTES));
    }
    m_dependencies = node.dataDependencies;
    if (m_options.followsControl)
    {
        m_dependencies.insert(m_dependencies.end(),
                              node.controlDependencies.begin(),
                              node.controlDependencies.end());
    }
    m_builder.Add(node.id, node.name, Translate(node), m_dependencies);
}

/// An issue, and what stands in the node's place where it is gone on.
TraceNode
ChakraProgram::Miss(const ChakraNode& node, const std::string& what, TraceNode instead)
{
    m_builder.GetIssues().Add(what, m_builder.Locate(node.id, node.name));
    return instead;
}

TraceNode
ChakraProgram::Translate(const ChakraNode& node)
{
    TraceNode made;
    made.picoseconds = node.durationMicros * PICOSECONDS_PER_MICROSECOND;
    made.action = node.onHost ? TraceAction::Host : TraceAction::Compute;
    switch (node.type)
    {
    case ChakraType::METADATA:
        return {};
    case ChakraType::COMPUTATION:
        return made;
    case ChakraType::LOAD:
        return Miss(node, "loads from memory", made);
    case ChakraType::STORE:
        return Miss(node, "stores to memory", made);
    case ChakraType::SENDING:
    case ChakraType::RECEIVING:
        return TranslateMessage(node, made);
    case ChakraType::COLLECTIVE:
        return TranslateCollective(node, made);
    default:
        return Miss(node, fmt::format("nodes of type {}", node.type), made);
    }
}

TraceNode
ChakraProgram::TranslateMessage(const ChakraNode& node, TraceNode made)
{
    const bool isSend = node.type == ChakraType::SENDING;
    if (!node.bytes || !node.peer || *node.peer < 0 ||
        *node.peer > std::numeric_limits<int32_t>::max())
    {
        return Miss(
            node,
            fmt::format("messages without comm_size or {}", isSend ? "comm_dst" : "comm_src"),
            made);
    }
    made.picoseconds = 0;
    made.action = isSend ? TraceAction::Send : TraceAction::Receive;
    made.bytes = *node.bytes;
    made.peer = static_cast<int32_t>(*node.peer);
    made.tag = node.tag;
    return made;
}

TraceNode
ChakraProgram::TranslateCollective(const ChakraNode& node, TraceNode made)
{
    if (!node.collectiveType)
    {
        return Miss(node, "collectives without comm_type", made);
    }
    const auto collective = ToCollective(*node.collectiveType);
    if (!collective)
    {
        return Miss(node, fmt::format("collectives of comm_type {}", *node.collectiveType), made);
    }
    if (!node.bytes && collective != TraceCollective::Barrier)
    {
        return Miss(node, "collectives without comm_size", made);
    }
    if (node.leavesOutDimensions)
    {
        return Miss(node, "collectives over some of the dimensions (involved_dim)", made);
    }
    made.picoseconds = 0;
    made.action = TraceAction::Collective;
    made.collective = *collective;
    made.isShare = collective == TraceCollective::AllGather;
    made.bytes = node.bytes.value_or(0);
    made.group = m_builder.AddGroup(node.group);
    return made;
}

} // namespace ns3::gradsync
