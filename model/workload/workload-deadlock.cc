// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/workload-deadlock.h"

#include "ns3/workload.h"

#include <fmt/format.h>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// Runs a workload as far as it goes, without time.
class Walk
{
  public:
    explicit Walk(const Workload& workload)
        : m_workload(workload),
          m_waiting(workload.CountPredecessors()),
          m_begun(workload.GetTasks().size(), false),
          m_done(workload.GetTasks().size(), false),
          m_absent(workload.GetCommunications().size()),
          m_next(workload.GetRankCount() * workload.GetStreams().size(), 0)
    {
        for (CommunicationId id = 0; id < m_absent.size(); ++id)
        {
            m_absent[id] = static_cast<uint32_t>(workload.GetGroup(id).size());
        }
    }

    /// \returns whether all of it gets done
    bool Run()
    {
        for (TaskId id = 0; id < m_waiting.size(); ++id)
        {
            if (m_waiting[id] == 0)
            {
                Reach(id);
            }
        }
        while (!m_finished.empty())
        {
            const auto id = m_finished.back();
            m_finished.pop_back();
            Leave(id);
        }
        return m_left == 0;
    }

    /// What the first rank that gets no further waits for.
    std::string Describe() const
    {
        for (TaskId id = 0; id < m_done.size(); ++id)
        {
            // Where nothing is begun that is not done, edges alone form a circle.
            if (m_begun[id] && !m_done[id])
            {
                return DescribeWait(id);
            }
        }
        return "tasks wait for each other in a circle of edges";
    }

  private:
    bool InOrder(const WorkloadTask& task) const
    {
        return m_workload.GetStreams()[task.stream].policy == StreamPolicy::Program;
    }

    /// All before it is done; its stream may not have come to it.
    void Reach(TaskId id)
    {
        const auto& task = m_workload.GetTasks()[id];
        if (!InOrder(task))
        {
            Begin(id);
            return;
        }
        Serve(task.rank, task.stream);
    }

    /// Begins the task that a stream in program order has come to, if it can.
    void Serve(uint32_t rank, uint32_t stream)
    {
        const auto program = m_workload.GetProgram(rank, stream);
        const auto& next = m_next[rank * m_workload.GetStreams().size() + stream];
        if (next < program.size() && m_waiting[program[next]] == 0 && !m_begun[program[next]])
        {
            Begin(program[next]);
        }
    }

    void Begin(TaskId id)
    {
        m_begun[id] = true;
        const auto& task = m_workload.GetTasks()[id];
        if (task.IsCompute())
        {
            Finish(id);
            return;
        }
        if (m_workload.GetStreams()[task.stream].BeginsAlone() &&
            m_workload.GetSender(task.communication) == id)
        {
            Finish(id);
        }
        if (--m_absent[task.communication] == 0)
        {
            for (const auto part : m_workload.GetParts(task.communication))
            {
                Finish(part);
            }
        }
    }

    void Finish(TaskId id)
    {
        if (!m_done[id])
        {
            m_done[id] = true;
            --m_left;
            m_finished.push_back(id);
        }
    }

    void Leave(TaskId id)
    {
        for (const auto later : m_workload.GetSuccessors(id))
        {
            if (--m_waiting[later] == 0)
            {
                Reach(later);
            }
        }
        const auto& task = m_workload.GetTasks()[id];
        if (InOrder(task))
        {
            ++m_next[task.rank * m_workload.GetStreams().size() + task.stream];
            Serve(task.rank, task.stream);
        }
    }

    std::string DescribeWait(TaskId id) const
    {
        const auto& task = m_workload.GetTasks()[id];
        for (const auto part : m_workload.GetParts(task.communication))
        {
            if (!m_begun[part])
            {
                const auto other = m_workload.GetTasks()[part].rank;
                return fmt::format("a deadlock: rank {} waits in {} for rank {}, which never comes "
                                   "to it{}",
                                   task.rank,
                                   m_workload.GetLabel(task.label),
                                   other,
                                   DescribeHold(other));
            }
        }
        return "tasks wait for each other in a circle";
    }

    std::string DescribeHold(uint32_t rank) const
    {
        const auto tasks = m_workload.GetTasks();
        for (TaskId id = 0; id < tasks.size(); ++id)
        {
            if (tasks[id].rank == rank && m_begun[id] && !m_done[id])
            {
                return fmt::format(" because it waits in {}", m_workload.GetLabel(tasks[id].label));
            }
        }
        return "";
    }

    const Workload& m_workload;
    std::vector<uint32_t> m_waiting; //!< [task]
    std::vector<bool> m_begun;       //!< [task]
    std::vector<bool> m_done;        //!< [task]
    std::vector<uint32_t> m_absent;  //!< [communication] members that have not begun
    std::vector<uint32_t> m_next;    //!< [rank, stream] place in the program
    std::vector<TaskId> m_finished;  //!< whose successors are not told
    size_t m_left{m_waiting.size()};
};

} // namespace

std::optional<std::string>
FindDeadlock(const Workload& workload)
{
    Walk walk(workload);
    return walk.Run() ? std::nullopt : std::optional(walk.Describe());
}

} // namespace ns3::gradsync
