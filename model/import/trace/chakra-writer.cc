// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/chakra-writer.h"

#include <fmt/format.h>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace ns3::gradsync
{

ChakraWriter::ChakraWriter(const Plan& plan)
    : m_plan(plan),
      m_steps(plan.GetRankCount())
{
    CheckChakraMessages(plan);
    // Tags are numbers of 31 bits, of transfers and of the signals behind them.
    if (plan.GetOperations().size() > std::numeric_limits<int32_t>::max() / 2)
    {
        throw std::invalid_argument("the plan has more operations than Chakra's tags can number");
    }
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
ChakraWriter::AddStep(uint32_t rank, ChakraStep step)
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
    const auto what =
        fmt::format("operation {}, {}, of rank {}", id, ToString(operation.kind), operation.src);
    if (operation.firstChunk != 0)
    {
        throw std::invalid_argument(fmt::format("{} is on processor {}: Chakra knows one of a rank",
                                                what,
                                                operation.firstChunk));
    }
    return ToChakraMicroseconds(m_plan.GetComputePicoseconds(id), what);
}

void
ChakraWriter::AddOperation(OperationId id)
{
    const auto operation = m_plan.GetOperations()[id];
    ChakraStep step;
    step.name = fmt::format("operation {}", id);
    if (!operation.IsTransfer())
    {
        step.amount = GetMicroseconds(id);
        m_starts[id] = static_cast<uint32_t>(AddStep(operation.src, std::move(step)));
        return;
    }
    step.action = TraceAction::Send;
    step.amount = m_plan.GetBytes(id);
    step.peer = operation.dst;
    step.tag = id;
    m_starts[id] = static_cast<uint32_t>(AddStep(operation.src, step));
    step.action = TraceAction::Receive;
    step.peer = operation.src;
    m_receives[id] = static_cast<uint32_t>(AddStep(operation.dst, std::move(step)));
}

ChakraStep&
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
    ChakraStep step;
    step.name = fmt::format("signal {}", m_signalCount);
    step.tag = static_cast<uint32_t>(m_starts.size()) + m_signalCount++;
    step.amount = 1;
    auto received = step;
    step.action = TraceAction::Send;
    step.peer = to;
    step.dependencies = {GetEnd(earlier, from)};
    AddStep(from, std::move(step));
    received.action = TraceAction::Receive;
    received.peer = from;
    const auto told = AddStep(to, std::move(received));
    GetStart(later).dependencies.push_back(told);
}

void
ChakraWriter::Write(uint32_t rank, std::ostream& stream) const
{
    WriteChakraSteps(rank, m_steps[rank], stream);
}

} // namespace ns3::gradsync
