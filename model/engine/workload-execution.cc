// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/workload-execution.h"

#include "ns3/exchange-application.h"
#include "ns3/rank-share.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

WorkloadExecution::WorkloadExecution(ExecutionTable& executions,
                                     WorkloadAggregations& aggregations,
                                     Owner& owner,
                                     std::shared_ptr<const Workload> workload,
                                     std::vector<ExchangeApplication*> ranks,
                                     CollectiveRecords* records,
                                     const WorkloadShare* share)
    : m_executions(executions),
      m_owner(owner),
      m_share(share),
      m_workload(std::move(workload)),
      m_ranks(std::move(ranks)),
      m_number(executions.Add(*this)),
      m_runs(executions, aggregations, *this, *m_workload, m_ranks, records, share),
      m_waiting(m_workload->CountPredecessors()),
      m_log(m_waiting.size()),
      m_left(static_cast<uint32_t>(
          std::ranges::count_if(m_workload->GetTasks(),
                                [this](const auto& task) { return IsHere(task); })))
{
    const auto streams = m_workload->GetStreams();
    for (uint32_t rank = 0; rank < m_workload->GetRankCount(); ++rank)
    {
        for (uint32_t stream = 0; stream < streams.size(); ++stream)
        {
            m_streams.emplace_back(streams[stream], m_workload->GetProgram(rank, stream));
        }
    }
    for (CommunicationId id = 0; id < m_workload->GetCommunications().size(); ++id)
    {
        m_absent.push_back(static_cast<uint32_t>(m_workload->GetParts(id).size()));
    }
}

WorkloadExecution::~WorkloadExecution()
{
    m_executions.Remove(m_number);
}

TaskStream&
WorkloadExecution::GetStream(const WorkloadTask& task)
{
    return m_streams[task.rank * m_workload->GetStreams().size() + task.stream];
}

bool
WorkloadExecution::IsHere(const WorkloadTask& task) const
{
    return !m_share || m_share->share->GetOwnPart() == m_share->parts->GetPart(task.rank);
}

/// Of a communication, as credit counts them; at least 1.
uint64_t
WorkloadExecution::GetBytes(const WorkloadTask& task) const
{
    return task.IsCompute()
               ? 0
               : std::max<uint64_t>(
                     m_workload->GetPlan(task.communication)->GetLayout().GetTotalBytes(),
                     1);
}

bool
WorkloadExecution::HasRoom(TaskId id)
{
    const auto& task = m_workload->GetTasks()[id];
    return GetStream(task).HasRoom(GetBytes(task));
}

void
WorkloadExecution::Start(uint32_t rank)
{
    if (m_isHalted)
    {
        return;
    }
    m_isWorking = true; // what ends at once is seen to afterwards
    for (uint32_t stream = 0; stream < m_workload->GetStreams().size(); ++stream)
    {
        for (const auto id : m_workload->GetProgram(rank, stream))
        {
            if (m_waiting[id] == 0)
            {
                Reach(id, TaskLog::NONE);
            }
        }
    }
    m_isWorking = false;
    Work();
}

void
WorkloadExecution::Halt()
{
    m_isHalted = true;
    m_runs.Halt();
}

/// All before the task is done. \param cause the last of these
void
WorkloadExecution::Reach(TaskId id, TaskId cause)
{
    m_log.SetCause(id, cause);
    const auto& task = m_workload->GetTasks()[id];
    auto& stream = GetStream(task);
    if (stream.IsInProgramOrder())
    {
        ServeInOrder(stream);
        return;
    }
    if (stream.IsUnordered())
    {
        Begin(id);
        return;
    }
    if (task.IsCompute())
    {
        stream.Push(id, task.priority);
        ServeLater(task);
        return;
    }
    if (--m_absent[task.communication] == 0)
    {
        for (const auto part : m_workload->GetParts(task.communication))
        {
            Agree(part);
        }
    }
}

/// A communication is ready at all its ranks.
void
WorkloadExecution::Agree(TaskId id)
{
    const auto& task = m_workload->GetTasks()[id];
    GetStream(task).Push(id, task.priority);
    ServeLater(task);
}

void
WorkloadExecution::Serve(uint32_t rank, uint32_t stream)
{
    auto& served = m_streams[rank * m_workload->GetStreams().size() + stream];
    if (served.IsInProgramOrder())
    {
        ServeInOrder(served);
    }
    else
    {
        ServeByPolicy(served);
    }
}

void
WorkloadExecution::ServeInOrder(TaskStream& stream)
{
    for (const auto* next = stream.GetNext();
         next != nullptr && m_waiting[*next] == 0 && HasRoom(*next);
         next = stream.GetNext())
    {
        Begin(*next);
    }
}

void
WorkloadExecution::ServeByPolicy(TaskStream& stream)
{
    const auto hasRoom = [this](const TaskStream::Entry& entry) {
        const auto& task = m_workload->GetTasks()[entry.task];
        if (task.IsCompute())
        {
            return HasRoom(entry.task);
        }
        return std::ranges::all_of(m_workload->GetParts(task.communication),
                                   [this](TaskId part) { return HasRoom(part); });
    };
    for (;;)
    {
        const auto found = std::ranges::find_if(stream.GetReady(), hasRoom);
        if (found == stream.GetReady().end())
        {
            return;
        }
        const auto id = found->task;
        const auto& task = m_workload->GetTasks()[id];
        if (task.IsCompute())
        {
            Begin(id);
        }
        else
        {
            BeginTogether(task.communication);
        }
    }
}

/// What becomes ready at one instant is chosen from together.
void
WorkloadExecution::ServeLater(const WorkloadTask& task)
{
    if (m_due.empty())
    {
        m_serveEvent.Schedule(Time(0), &WorkloadExecution::OnInstantOver, this);
        if (m_share)
        {
            m_share->share->OnSharedEvent(m_share->job, m_share->run);
        }
    }
    m_due.emplace_back(task.rank, task.stream);
}

void
WorkloadExecution::OnInstantOver()
{
    if (m_isHalted)
    {
        return;
    }
    auto due = std::exchange(m_due, {});
    std::ranges::sort(due);
    due.erase(std::unique(due.begin(), due.end()), due.end());
    m_isWorking = true; // what ends at once is seen to afterwards
    for (const auto& [rank, stream] : due)
    {
        Serve(rank, stream);
    }
    m_isWorking = false;
    Work();
}

/// The rank begins its part on its own, or a computation.
void
WorkloadExecution::Begin(TaskId id)
{
    const auto& task = m_workload->GetTasks()[id];
    auto& stream = GetStream(task);
    if (!stream.IsUnordered())
    {
        auto cause = m_log.GetLater(m_log.GetCause(id), stream.GetLastEnded());
        // Where credit holds several, one that waits for the beginning of the one before it waits
        // for what that waited for.
        if (const auto previous = stream.GetPrevious(); previous != TaskLog::NONE)
        {
            cause = m_log.GetLater(cause, m_log.GetCause(previous));
        }
        m_log.SetCause(id, cause);
    }
    m_log.Begin(id, Simulator::Now());
    stream.Begin(id, GetBytes(task));
    if (task.IsCompute())
    {
        m_ranks[task.rank]->StartTask(ExecutionTable::MakeTag(m_number, id),
                                      PicoSeconds(task.picoseconds),
                                      task.stream);
        return;
    }
    m_runs.Start(task.communication, task.member);
}

void
WorkloadExecution::BeginTogether(CommunicationId id)
{
    const auto parts = m_workload->GetParts(id);
    auto cause = TaskLog::NONE;
    for (const auto part : parts)
    {
        const auto& stream = GetStream(m_workload->GetTasks()[part]);
        cause = m_log.GetLater(cause, m_log.GetLater(m_log.GetCause(part), stream.GetLastEnded()));
    }
    for (const auto part : parts)
    {
        const auto& task = m_workload->GetTasks()[part];
        m_log.SetCause(part, cause);
        m_log.Begin(part, Simulator::Now());
        GetStream(task).Begin(part, GetBytes(task));
    }
    m_runs.StartTogether(id);
}

void
WorkloadExecution::OnPartEnded(TaskId part)
{
    Finish(part);
    Work();
}

void
WorkloadExecution::OnCommunicationEnded()
{
    Work();
}

void
WorkloadExecution::OnDelivered(uint64_t bytes)
{
    m_owner.OnWorkloadDelivered(*this, bytes);
}

void
WorkloadExecution::OnCommunicationFailed(const std::string& reason, bool isOfNetwork)
{
    if (!m_isHalted)
    {
        Halt();
        m_owner.OnWorkloadFailed(*this, reason, isOfNetwork);
    }
}

void
WorkloadExecution::OnComputed(OperationId id)
{
    Finish(id);
    Work();
}

/// The task is done; what follows is begun by Work.
void
WorkloadExecution::Finish(TaskId id)
{
    m_log.End(id, Simulator::Now());
    m_finished.push_back(id);
}

/// A list, not recursion: communications that take no time may chain.
void
WorkloadExecution::Work()
{
    if (m_isWorking || m_isHalted)
    {
        return;
    }
    m_isWorking = true;
    while (!m_finished.empty())
    {
        for (const auto id : std::exchange(m_finished, {}))
        {
            Leave(id);
        }
    }
    m_isWorking = false;
    if (m_left == 0 && m_runs.CountRunning() == 0 && !m_hasEnded)
    {
        m_hasEnded = true;
        m_serveEvent.Cancel();
        m_owner.OnWorkloadEnded(*this);
    }
}

void
WorkloadExecution::Leave(TaskId id)
{
    --m_left;
    const auto& task = m_workload->GetTasks()[id];
    auto& stream = GetStream(task);
    stream.End(id, GetBytes(task));
    for (const auto later : m_workload->GetSuccessors(id))
    {
        if (--m_waiting[later] == 0)
        {
            Reach(later, id);
        }
    }
    if (stream.IsInProgramOrder())
    {
        ServeInOrder(stream);
    }
    else if (!stream.IsUnordered())
    {
        ServeLater(task);
    }
}

// Computations are handed to no network, and nobody tells workloads to train.

void
WorkloadExecution::OnDelivered(OperationId /* id */)
{
}

void
WorkloadExecution::OnTrained(OperationId /* id */, uint32_t /* rank */, const Time& /* since */)
{
}

void
WorkloadExecution::OnSkipped(OperationId /* id */)
{
}

void
WorkloadExecution::OnFailed(OperationId /* id */, const std::string& /* reason */)
{
}

void
WorkloadExecution::OnWrongSum(OperationId /* id */, const std::string& /* reason */)
{
}

} // namespace ns3::gradsync
