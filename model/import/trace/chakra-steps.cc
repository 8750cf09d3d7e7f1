// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/chakra-steps.h"

#include "chakra-trace.pb.h"

#include "ns3/chakra-types.h"

#include <algorithm>
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t MICROSECOND = 1'000'000; // picoseconds

int32_t
GetNodeType(TraceAction action)
{
    switch (action)
    {
    case TraceAction::Send:
        return ChakraType::SENDING;
    case TraceAction::Receive:
        return ChakraType::RECEIVING;
    case TraceAction::Collective:
        return ChakraType::COLLECTIVE;
    case TraceAction::Compute:
    case TraceAction::Host:
    case TraceAction::Join:
        break;
    }
    return ChakraType::COMPUTATION;
}

int64_t
GetCommType(TraceCollective collective)
{
    return std::ranges::find(CHAKRA_COMM_TYPES, collective, &ChakraCommType::collective)->number;
}

/// Behind its length, as a file has them.
template <class Message>
void
WriteDelimited(const Message& message, std::ostream& stream)
{
    std::string text;
    {
        google::protobuf::io::StringOutputStream raw(&text);
        google::protobuf::io::CodedOutputStream coded(&raw);
        coded.WriteVarint32(static_cast<uint32_t>(message.ByteSizeLong()));
        message.SerializeToCodedStream(&coded);
    }
    stream << text;
}

chakra::Attribute&
AddAttribute(chakra::ChakraNode& node, const char* name)
{
    auto& attribute = *node.add_attributes();
    attribute.set_name(name);
    return attribute;
}

void
AddMessage(uint32_t rank, const ChakraStep& step, chakra::ChakraNode& node)
{
    const bool isSend = step.action == TraceAction::Send;
    const auto source = isSend ? rank : step.peer;
    const auto target = isSend ? step.peer : rank;
    AddAttribute(node, "comm_src").set_int32_value(static_cast<int32_t>(source));
    AddAttribute(node, "comm_dst").set_int32_value(static_cast<int32_t>(target));
    AddAttribute(node, "comm_tag").set_int32_value(static_cast<int32_t>(step.tag));
}

} // namespace

void
WriteChakraSteps(uint32_t rank, std::span<const ChakraStep> steps, std::ostream& stream)
{
    chakra::ChakraHeader header;
    header.set_version("0.0.4");
    WriteDelimited(header, stream);
    for (size_t id = 0; id < steps.size(); ++id)
    {
        const auto& step = steps[id];
        chakra::ChakraNode node;
        node.set_id(id);
        node.set_name(step.name);
        node.set_type(GetNodeType(step.action));
        for (const auto dependency : step.dependencies)
        {
            node.add_data_dependencies(dependency);
        }
        AddAttribute(node, "is_cpu_op").set_bool_value(false);
        if (step.action == TraceAction::Compute)
        {
            node.set_duration_micros(step.amount);
            WriteDelimited(node, stream);
            continue;
        }
        AddAttribute(node, "comm_size").set_int64_value(static_cast<int64_t>(step.amount));
        if (step.action == TraceAction::Collective)
        {
            AddAttribute(node, "comm_type").set_int64_value(GetCommType(step.collective));
            AddAttribute(node, "pg_name").set_text(step.group);
        }
        else
        {
            AddMessage(rank, step, node);
        }
        WriteDelimited(node, stream);
    }
}

uint64_t
ToChakraMicroseconds(uint64_t picoseconds, const std::string& what)
{
    if (picoseconds % MICROSECOND != 0)
    {
        throw std::invalid_argument(
            fmt::format("{} takes {} ps: Chakra has whole microseconds", what, picoseconds));
    }
    return picoseconds / MICROSECOND;
}

void
CheckChakraMessages(const Plan& plan)
{
    if (plan.HasAggregations())
    {
        throw std::invalid_argument("Chakra knows messages between ranks only, and this plan lets "
                                    "the network aggregate");
    }
    if (plan.GetGate())
    {
        throw std::invalid_argument("Chakra's nodes wait for all of their dependencies, and this "
                                    "plan goes on with a quorum");
    }
    if (plan.GetProtocol() != MessageProtocol())
    {
        throw std::invalid_argument("Chakra cannot say what a protocol adds to messages");
    }
}

} // namespace ns3::gradsync
