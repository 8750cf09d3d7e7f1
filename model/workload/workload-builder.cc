// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/workload-builder.h"

#include "ns3/packed-offsets.h"
#include "ns3/workload-deadlock.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

constexpr TaskId NO_TASK = UINT32_MAX;

} // namespace

WorkloadBuilder::WorkloadBuilder(uint32_t ranks, std::vector<StreamSpec> streams)
{
    m_workload.m_rankCount = ranks;
    m_workload.m_streams = std::move(streams);
}

uint32_t
WorkloadBuilder::AddLabel(const std::string& label)
{
    const auto [found, isNew] =
        m_labels.emplace(label, static_cast<uint32_t>(m_workload.m_labels.size()));
    if (isNew)
    {
        m_workload.m_labels.push_back(label);
    }
    return found->second;
}

uint32_t
WorkloadBuilder::AddGroup(std::vector<uint32_t> ranks)
{
    const auto [found, isNew] =
        m_groups.emplace(ranks, static_cast<uint32_t>(m_workload.m_groups.size()));
    if (isNew)
    {
        m_workload.m_groups.push_back(std::move(ranks));
    }
    return found->second;
}

TaskId
WorkloadBuilder::Add(const WorkloadTask& task)
{
    if (task.rank >= m_workload.m_rankCount || task.stream >= m_workload.m_streams.size())
    {
        throw std::logic_error(fmt::format("no rank {} with a stream {}", task.rank, task.stream));
    }
    CheckNumbers(m_workload.m_tasks.size() + 1, "tasks");
    m_workload.m_tasks.push_back(task);
    m_workload.m_tasks.back().iteration = static_cast<uint16_t>(m_iteration);
    return static_cast<TaskId>(m_workload.m_tasks.size() - 1);
}

void
WorkloadBuilder::SetIteration(uint32_t iteration)
{
    if (iteration >= MAX_ITERATIONS)
    {
        throw std::logic_error(fmt::format("no iteration {}", iteration));
    }
    m_iteration = iteration;
    m_workload.m_iterationCount = std::max(m_workload.m_iterationCount, iteration + 1);
}

TaskId
WorkloadBuilder::AddCompute(uint32_t rank,
                            uint32_t stream,
                            uint64_t picoseconds,
                            const std::string& label,
                            int32_t priority)
{
    WorkloadTask task;
    task.picoseconds = picoseconds;
    task.rank = rank;
    task.priority = priority;
    task.label = AddLabel(label);
    task.stream = static_cast<uint16_t>(stream);
    return Add(task);
}

CommunicationId
WorkloadBuilder::AddCommunication(uint32_t group,
                                  const std::shared_ptr<const Plan>& plan,
                                  const std::string& label)
{
    if (plan->GetRankCount() != m_workload.m_groups.at(group).size())
    {
        throw std::logic_error(fmt::format("{} has {} ranks, its plan {}",
                                           label,
                                           m_workload.m_groups[group].size(),
                                           plan->GetRankCount()));
    }
    const auto [found, isNew] =
        m_plans.emplace(plan.get(), static_cast<uint32_t>(m_workload.m_plans.size()));
    if (isNew)
    {
        m_workload.m_plans.push_back(plan);
    }
    CheckNumbers(m_workload.m_communications.size() + 1, "communications");
    m_workload.m_communications.push_back({group, found->second, AddLabel(label)});
    return static_cast<CommunicationId>(m_workload.m_communications.size() - 1);
}

TaskId
WorkloadBuilder::AddPart(uint32_t rank,
                         uint32_t stream,
                         CommunicationId communication,
                         int32_t priority)
{
    const auto& of = m_workload.m_communications.at(communication);
    const auto& group = m_workload.m_groups[of.group];
    const auto found = std::find(group.begin(), group.end(), rank);
    if (found == group.end())
    {
        throw std::logic_error(fmt::format("rank {} is none of {}'s", rank, GetName(of)));
    }
    WorkloadTask task;
    task.communication = communication;
    task.member = static_cast<uint32_t>(found - group.begin());
    task.rank = rank;
    task.priority = priority;
    task.label = of.label;
    task.stream = static_cast<uint16_t>(stream);
    return Add(task);
}

const std::string&
WorkloadBuilder::GetName(const Communication& communication) const
{
    return m_workload.m_labels[communication.label];
}

void
WorkloadBuilder::AddEdge(TaskId earlier, TaskId later)
{
    const auto& tasks = m_workload.m_tasks;
    if (tasks.at(earlier).rank != tasks.at(later).rank)
    {
        throw std::logic_error("tasks of two ranks wait for each other by communications only");
    }
    m_edges.emplace_back(earlier, later);
}

void
WorkloadBuilder::PackPrograms()
{
    auto& offsets = m_workload.m_programOffsets;
    const auto streams = m_workload.m_streams.size();
    offsets.assign(m_workload.m_rankCount * streams + 1, 0);
    for (const auto& task : m_workload.m_tasks)
    {
        ++offsets[task.rank * streams + task.stream + 1];
    }
    SumUpOffsets(offsets, "tasks");
    m_workload.m_programs.resize(m_workload.m_tasks.size());
    auto next = offsets;
    for (TaskId id = 0; id < m_workload.m_tasks.size(); ++id)
    {
        const auto& task = m_workload.m_tasks[id];
        m_workload.m_programs[next[task.rank * streams + task.stream]++] = id;
    }
}

void
WorkloadBuilder::PackSuccessors()
{
    std::sort(m_edges.begin(), m_edges.end());
    m_edges.erase(std::unique(m_edges.begin(), m_edges.end()), m_edges.end());
    CheckNumbers(m_edges.size(), "edges between tasks");
    auto& offsets = m_workload.m_successorOffsets;
    offsets.assign(m_workload.m_tasks.size() + 1, 0);
    m_workload.m_successors.reserve(m_edges.size());
    for (const auto& [earlier, later] : m_edges)
    {
        ++offsets[earlier + 1];
        m_workload.m_successors.push_back(later);
    }
    SumUpOffsets(offsets, "edges between tasks");
    m_edges.clear();
}

void
WorkloadBuilder::PackParts()
{
    auto& offsets = m_workload.m_partOffsets;
    offsets.assign(1, 0);
    offsets.reserve(m_workload.m_communications.size() + 1);
    for (const auto& communication : m_workload.m_communications)
    {
        const auto size = m_workload.m_groups[communication.group].size();
        offsets.push_back(static_cast<uint32_t>(size));
    }
    SumUpOffsets(offsets, "parts of communications");
    m_workload.m_parts.assign(offsets.back(), NO_TASK);
    for (TaskId id = 0; id < m_workload.m_tasks.size(); ++id)
    {
        const auto& task = m_workload.m_tasks[id];
        if (task.IsCompute())
        {
            continue;
        }
        auto& part = m_workload.m_parts[offsets[task.communication] + task.member];
        if (part != NO_TASK)
        {
            throw std::logic_error(fmt::format("rank {} has two parts in one {}",
                                               task.rank,
                                               m_workload.m_labels[task.label]));
        }
        part = id;
    }
}

void
WorkloadBuilder::CheckParts() const
{
    const auto beginsAlone = [this](TaskId id) {
        return m_workload.m_streams[m_workload.m_tasks[id].stream].BeginsAlone();
    };
    for (CommunicationId id = 0; id < m_workload.m_communications.size(); ++id)
    {
        const auto parts = m_workload.GetParts(id);
        const auto& name = GetName(m_workload.m_communications[id]);
        const auto missing = std::ranges::find(parts, NO_TASK);
        if (missing != parts.end())
        {
            throw WorkloadError(fmt::format("rank {} takes no part in {}",
                                            m_workload.GetGroup(id)[missing - parts.begin()],
                                            name));
        }
        const auto alone = std::ranges::count_if(parts, beginsAlone);
        if (alone != 0 && alone != std::ssize(parts))
        {
            throw std::logic_error(
                fmt::format("{} is on streams where ranks begin alone and on others", name));
        }
    }
}

Workload
WorkloadBuilder::Build()
{
    PackPrograms();
    PackSuccessors();
    PackParts();
    CheckParts();
    if (const auto deadlock = FindDeadlock(m_workload))
    {
        throw WorkloadError(*deadlock);
    }
    return std::exchange(m_workload, {});
}

} // namespace ns3::gradsync
