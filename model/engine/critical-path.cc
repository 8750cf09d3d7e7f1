// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/critical-path.h"

#include <algorithm>

namespace ns3::gradsync
{

namespace
{

/// The one that ended last; of equal ones the first.
TaskId
FindLast(const Workload& workload, const TaskLog& log)
{
    auto last = TaskLog::NONE;
    for (TaskId id = 0; id < workload.GetTasks().size(); ++id)
    {
        last = log.GetLater(last, id);
    }
    return last;
}

/// The part of a communication that kept this one waiting; of a computation itself.
TaskId
FindLatestPart(const Workload& workload, const TaskLog& log, TaskId id)
{
    const auto& task = workload.GetTasks()[id];
    if (task.IsCompute() || log.GetEnd(id) == log.GetBegin(id))
    {
        return id; // whatever it was to wait for was there
    }
    if (const auto sender = workload.GetSender(task.communication))
    {
        return *sender;
    }
    const auto parts = workload.GetParts(task.communication);
    return *std::ranges::max_element(parts, {}, [&log](TaskId part) { return log.GetBegin(part); });
}

} // namespace

std::vector<CriticalStep>
FindCriticalPath(const Workload& workload, const TaskLog& log)
{
    std::vector<CriticalStep> path;
    for (auto id = FindLast(workload, log); id != TaskLog::NONE;)
    {
        const auto latest = FindLatestPart(workload, log, id);
        path.push_back({latest, log.GetBegin(latest), log.GetEnd(id)});
        id = log.GetCause(latest);
    }
    std::ranges::reverse(path);
    return path;
}

} // namespace ns3::gradsync
