// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/chakra-writer.h"

#include "chakra-trace.pb.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t MICROSECOND = 1'000'000; // picoseconds

/// NodeType of et_def.proto.
constexpr int32_t COMP_NODE = 4;
constexpr int32_t COMM_SEND_NODE = 5;
constexpr int32_t COMM_RECV_NODE = 6;

void
RefuseUnsaid(const Plan& plan)
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
    // Tags are numbers of 31 bits, of transfers and of the signals behind them.
    if (plan.GetOperations().size() > std::numeric_limits<int32_t>::max() / 2)
    {
        throw std::invalid_argument("the plan has more operations than Chakra's tags can number");
    }
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

} // namespace

ChakraWriter::ChakraWriter(const Plan& plan)
    : m_plan(plan),
      m_steps(plan.GetRankCount())
{
    RefuseUnsaid(plan);
    const auto count = static_cast<OperationId>(plan.GetOperations().size());
    m_starts.resize(count);
    m_receives.resize(count);
    for (OperationId id = 0; id < count; ++id)
    {
        AddOperation(id);
    }
    for (OperationId id = 0; id < count; ++id)
    {
        for (const auto later : plan.GetSuccessors(id))
        {
            AddDependency(id, later);
        }
    }
}

uint64_t
ChakraWriter::AddStep(uint32_t rank, Step step)
{
    m_steps[rank].push_back(std::move(step));
    return m_steps[rank].size() - 1;
}

uint64_t
ChakraWriter::GetMicroseconds(OperationId id) const
{
    const auto operation = m_plan.GetOperations()[id];
    if (operation.kind == OperationKind::Train)
    {
        throw std::invalid_argument("this plan tells ranks when to train, which a trace of one "
                                    "exchange does not have");
    }
    if (!operation.IsCompute())
    {
        return 0;
    }
    const auto picoseconds = m_plan.GetComputePicoseconds(id);
    if (picoseconds % MICROSECOND != 0 || operation.firstChunk != 0)
    {
        throw std::invalid_argument(
            fmt::format("operation {}, {}, takes {} ps of processor {} of rank {}: Chakra has "
                        "whole microseconds, of one processor a rank",
                        id,
                        ToString(operation.kind),
                        picoseconds,
                        operation.firstChunk,
                        operation.src));
    }
    return picoseconds / MICROSECOND;
}

void
ChakraWriter::AddOperation(OperationId id)
{
    const auto operation = m_plan.GetOperations()[id];
    if (!operation.IsTransfer())
    {
        m_starts[id] = static_cast<uint32_t>(
            AddStep(operation.src, {StepKind::Compute, 0, id, GetMicroseconds(id)}));
        return;
    }
    const auto bytes = m_plan.GetBytes(id);
    m_starts[id] =
        static_cast<uint32_t>(AddStep(operation.src, {StepKind::Send, operation.dst, id, bytes}));
    m_receives[id] = static_cast<uint32_t>(
        AddStep(operation.dst, {StepKind::Receive, operation.src, id, bytes}));
}

ChakraWriter::Step&
ChakraWriter::GetStart(OperationId id)
{
    return m_steps[m_plan.GetOperations()[id].src][m_starts[id]];
}

uint64_t
ChakraWriter::GetEnd(OperationId id, uint32_t rank) const
{
    const auto operation = m_plan.GetOperations()[id];
    return operation.IsTransfer() && operation.dst == rank ? m_receives[id] : m_starts[id];
}

void
ChakraWriter::AddDependency(OperationId earlier, OperationId later)
{
    const auto operation = m_plan.GetOperations()[earlier];
    const auto to = m_plan.GetOperations()[later].src;
    if (operation.src == to || operation.dst == to)
    {
        GetStart(later).dependencies.push_back(GetEnd(earlier, to));
        return;
    }
    const auto from = operation.dst;
    const auto tag = static_cast<uint32_t>(m_starts.size()) + m_signalCount++;
    AddStep(from, {StepKind::Send, to, tag, 1, {GetEnd(earlier, from)}});
    const auto told = AddStep(to, {StepKind::Receive, from, tag, 1});
    GetStart(later).dependencies.push_back(told);
}

void
ChakraWriter::Write(uint32_t rank, std::ostream& stream) const
{
    chakra::ChakraHeader header;
    header.set_version("0.0.4");
    WriteDelimited(header, stream);
    for (size_t id = 0; id < m_steps[rank].size(); ++id)
    {
        const auto& step = m_steps[rank][id];
        chakra::ChakraNode node;
        node.set_id(id);
        for (const auto dependency : step.dependencies)
        {
            node.add_data_dependencies(dependency);
        }
        AddAttribute(node, "is_cpu_op").set_bool_value(false);
        if (step.kind == StepKind::Compute)
        {
            node.set_type(COMP_NODE);
            node.set_name(fmt::format("operation {}", step.tag));
            node.set_duration_micros(step.amount);
            WriteDelimited(node, stream);
            continue;
        }
        const bool isSend = step.kind == StepKind::Send;
        node.set_type(isSend ? COMM_SEND_NODE : COMM_RECV_NODE);
        node.set_name(fmt::format("{} {}", isSend ? "send" : "receive", step.tag));
        AddAttribute(node, "comm_size").set_int64_value(static_cast<int64_t>(step.amount));
        AddAttribute(node, "comm_src")
            .set_int32_value(static_cast<int32_t>(isSend ? rank : step.peer));
        AddAttribute(node, "comm_dst")
            .set_int32_value(static_cast<int32_t>(isSend ? step.peer : rank));
        AddAttribute(node, "comm_tag").set_int32_value(static_cast<int32_t>(step.tag));
        WriteDelimited(node, stream);
    }
}

} // namespace ns3::gradsync
