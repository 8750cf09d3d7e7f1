// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TASK_LOG_H
#define GRADSYNC_TASK_LOG_H

#include "ns3/nstime.h"
#include "ns3/workload.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// When the tasks of a workload began and ended, and what each waited for last.
class TaskLog
{
  public:
    static constexpr TaskId NONE = UINT32_MAX;

    explicit TaskLog(size_t tasks)
        : m_begin(tasks, NEVER),
          m_end(tasks, NEVER),
          m_cause(tasks, NONE)
    {
    }

    bool HasBegun(TaskId id) const
    {
        return m_begin[id] != NEVER;
    }

    bool HasEnded(TaskId id) const
    {
        return m_end[id] != NEVER;
    }

    /// Of a task that has begun.
    Time GetBegin(TaskId id) const
    {
        return TimeStep(m_begin[id]);
    }

    /// Of a task that has ended.
    Time GetEnd(TaskId id) const
    {
        return TimeStep(m_end[id]);
    }

    /// The task at whose end this one could begin, be it before it in the graph or on a stream that
    /// it needs; NONE: it began at the start.
    TaskId GetCause(TaskId id) const
    {
        return m_cause[id];
    }

    void Begin(TaskId id, const Time& now)
    {
        m_begin[id] = now.GetTimeStep();
    }

    void End(TaskId id, const Time& now)
    {
        m_end[id] = now.GetTimeStep();
    }

    void SetCause(TaskId id, TaskId cause)
    {
        m_cause[id] = cause;
    }

    /// As if all had happened so much later.
    TaskLog GetLater(const Time& by) const
    {
        auto later = *this;
        for (auto* times : {&later.m_begin, &later.m_end})
        {
            for (auto& time : *times)
            {
                time += time == NEVER ? 0 : by.GetTimeStep();
            }
        }
        return later;
    }

    /// Of two tasks the one that ended later; of equal ones the first. Either may be NONE.
    TaskId GetLater(TaskId one, TaskId other) const
    {
        if (one == NONE || other == NONE)
        {
            return one == NONE ? other : one;
        }
        return m_end[other] > m_end[one] ? other : one;
    }

  private:
    static constexpr int64_t NEVER = -1;

    std::vector<int64_t> m_begin; //!< [task] steps of ns-3's time
    std::vector<int64_t> m_end;
    std::vector<TaskId> m_cause;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TASK_LOG_H
