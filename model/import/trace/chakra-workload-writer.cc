// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/chakra-workload-writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace ns3::gradsync
{

namespace
{

std::optional<TraceCollective>
FindTraceCollective(const std::string& name)
{
    for (size_t i = 0; i < TRACE_COLLECTIVES; ++i)
    {
        const auto collective = static_cast<TraceCollective>(i);
        if (name == GetTraceCollectiveName(collective))
        {
            return collective;
        }
    }
    return {};
}

/// As ASTRA-sim counts them: what each rank brings to an all-gather or an all-to-all, of others the
/// whole buffer.
uint64_t
GetCommSize(TraceCollective collective, const Plan& plan, const std::string& label)
{
    const auto bytes = plan.GetLayout().GetTotalBytes();
    if (collective != TraceCollective::AllGather && collective != TraceCollective::AllToAll)
    {
        return collective == TraceCollective::Barrier ? 0 : bytes;
    }
    if (bytes % plan.GetWorkerCount() != 0)
    {
        throw std::invalid_argument(fmt::format("{}, {}, is of {} bytes, which {} ranks cannot "
                                                "share evenly",
                                                label,
                                                plan.GetCollective().GetTitle(),
                                                bytes,
                                                plan.GetWorkerCount()));
    }
    return bytes / plan.GetWorkerCount();
}

} // namespace

ChakraWorkloadWriter::ChakraWorkloadWriter(const Workload& workload)
    : m_workload(workload),
      m_steps(workload.GetRankCount())
{
    if (workload.GetIterationCount() > 1)
    {
        throw std::invalid_argument("iterations without a barrier are no trace of one iteration");
    }
    if (workload.GetCommunications().size() > std::numeric_limits<int32_t>::max())
    {
        throw std::invalid_argument("there are more messages than Chakra's tags can number");
    }
    CheckStreams();
    for (const auto& task : workload.GetTasks())
    {
        m_places.push_back(static_cast<uint32_t>(m_steps[task.rank].size()));
        m_steps[task.rank].push_back(MakeStep(task));
    }
    AddDependencies();
}

void
ChakraWorkloadWriter::CheckStreams() const
{
    std::optional<uint16_t> computing;
    for (const auto& task : m_workload.GetTasks())
    {
        const auto& stream = m_workload.GetStreams()[task.stream];
        if (!stream.BeginsAlone() || stream.creditBytes > 0)
        {
            throw std::invalid_argument(
                fmt::format("the stream {} has another order than that of the program, which "
                            "Chakra's dependencies cannot say",
                            stream.name));
        }
        if (task.IsCompute() && task.picoseconds > 0)
        {
            if (computing.value_or(task.stream) != task.stream)
            {
                throw std::invalid_argument(
                    "ranks compute on several streams, and Chakra knows one processor of each");
            }
            computing = task.stream;
        }
    }
}

ChakraStep
ChakraWorkloadWriter::MakeStep(const WorkloadTask& task)
{
    ChakraStep step;
    step.name = m_workload.GetLabel(task.label);
    if (task.IsCompute())
    {
        step.amount = ToChakraMicroseconds(task.picoseconds,
                                           fmt::format("{} of rank {}", step.name, task.rank));
        return step;
    }
    step.name = m_workload.GetLabel(m_workload.GetCommunications()[task.communication].label);
    const auto& plan = *m_workload.GetPlan(task.communication);
    CheckChakraMessages(plan);
    if (plan.IsCompressed())
    {
        throw std::invalid_argument(
            fmt::format("{} is compressed, which Chakra cannot say", step.name));
    }
    if (const auto sender = m_workload.GetSender(task.communication))
    {
        SetMessage(task, *sender, step);
    }
    else
    {
        SetCollective(task, step);
    }
    return step;
}

void
ChakraWorkloadWriter::SetMessage(const WorkloadTask& task, TaskId sender, ChakraStep& step) const
{
    const auto source = m_workload.GetTasks()[sender].rank;
    const auto group = m_workload.GetGroup(task.communication);
    step.action = task.rank == source ? TraceAction::Send : TraceAction::Receive;
    step.peer = group[0] == task.rank ? group[1] : group[0];
    step.tag = task.communication;
    step.amount = m_workload.GetPlan(task.communication)->GetLayout().GetTotalBytes();
}

void
ChakraWorkloadWriter::SetCollective(const WorkloadTask& task, ChakraStep& step)
{
    const auto& plan = *m_workload.GetPlan(task.communication);
    const auto collective = FindTraceCollective(plan.GetCollective().GetName());
    if (!collective)
    {
        throw std::invalid_argument(fmt::format("{} is {}, for which Chakra has no comm_type",
                                                step.name,
                                                plan.GetCollective().GetTitle()));
    }
    const auto ranks = m_workload.GetGroup(task.communication);
    const auto found = m_groups.try_emplace({ranks.begin(), ranks.end()},
                                            static_cast<uint32_t>(m_groups.size() + 1));
    step.action = TraceAction::Collective;
    step.collective = *collective;
    step.group = std::to_string(found.first->second);
    step.amount = GetCommSize(*collective, plan, step.name);
}

void
ChakraWorkloadWriter::AddDependencies()
{
    const auto tasks = m_workload.GetTasks();
    const auto add = [this, tasks](TaskId earlier, TaskId later) {
        m_steps[tasks[later].rank][m_places[later]].dependencies.push_back(m_places[earlier]);
    };
    for (TaskId id = 0; id < tasks.size(); ++id)
    {
        for (const auto later : m_workload.GetSuccessors(id))
        {
            add(id, later);
        }
    }
    for (uint32_t stream = 0; stream < m_workload.GetStreams().size(); ++stream)
    {
        const bool isOrdered = m_workload.GetStreams()[stream].policy == StreamPolicy::Program;
        for (uint32_t rank = 0; isOrdered && rank < m_workload.GetRankCount(); ++rank)
        {
            const auto program = m_workload.GetProgram(rank, stream);
            for (size_t i = 1; i < program.size(); ++i)
            {
                add(program[i - 1], program[i]);
            }
        }
    }
}

void
ChakraWorkloadWriter::Write(uint32_t rank, std::ostream& stream) const
{
    WriteChakraSteps(rank, m_steps[rank], stream);
}

void
ChakraWorkloadWriter::WriteGroups(std::ostream& stream) const
{
    std::map<uint32_t, std::string> groups;
    for (const auto& [ranks, number] : m_groups)
    {
        groups[number] = fmt::format("\"{}\": [{}]", number, fmt::join(ranks, ", "));
    }
    std::string text;
    for (const auto& [number, group] : groups)
    {
        text += (text.empty() ? "" : ",\n ") + group;
    }
    stream << fmt::format("{{{}}}\n", text);
}

} // namespace ns3::gradsync
