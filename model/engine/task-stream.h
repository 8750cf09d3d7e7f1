// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TASK_STREAM_H
#define GRADSYNC_TASK_STREAM_H

#include "ns3/workload.h"

#include <compare>
#include <cstdint>
#include <set>
#include <span>

namespace ns3::gradsync
{

/// One stream of one rank: what it has in hand, and, by its policy, what it begins next.
class TaskStream
{
  public:
    /// A task that is ready. Sets of them are in the order in which they are to begin.
    struct Entry
    {
        int64_t rank;
        uint64_t sequence;
        TaskId task;

        auto operator<=>(const Entry&) const = default;
    };

    /// \param spec outlives the stream, as does the program of its rank
    TaskStream(const StreamSpec& spec, std::span<const TaskId> program)
        : m_spec(&spec),
          m_program(program)
    {
    }

    bool IsInProgramOrder() const
    {
        return m_spec->policy == StreamPolicy::Program;
    }

    /// Whether what is ready begins at once.
    bool IsUnordered() const
    {
        return m_spec->policy == StreamPolicy::Unordered;
    }

    /// Of a stream in program order: the task that is to begin next; nullptr at the end.
    const TaskId* GetNext() const
    {
        return m_next < m_program.size() ? &m_program[m_next] : nullptr;
    }

    /// Of a stream in program order: the task that began last; UINT32_MAX: none.
    TaskId GetPrevious() const
    {
        return m_next > 0 ? m_program[m_next - 1] : UINT32_MAX;
    }

    /// Of other streams: a task is ready.
    void Push(TaskId task, int32_t priority)
    {
        const auto sequence = ++m_sequence;
        switch (m_spec->policy)
        {
        case StreamPolicy::Program:
        case StreamPolicy::Fifo:
        case StreamPolicy::Unordered:
            m_ready.insert({0, sequence, task});
            return;
        case StreamPolicy::Lifo:
            m_ready.insert({-static_cast<int64_t>(sequence), sequence, task});
            return;
        case StreamPolicy::Priority:
            m_ready.insert({priority, sequence, task});
            return;
        }
    }

    /// Of other streams: what is ready, in the order in which it is to begin.
    const std::set<Entry>& GetReady() const
    {
        return m_ready;
    }

    /// Whether one more may begin. \param bytes of a communication; 0 of a computation
    bool HasRoom(uint64_t bytes) const
    {
        return m_inHand == 0 ||
               (bytes > 0 && m_bytes > 0 && m_bytes + bytes <= m_spec->creditBytes);
    }

    /// Takes a task in hand.
    void Begin(TaskId task, uint64_t bytes)
    {
        ++m_inHand;
        m_bytes += bytes;
        if (IsInProgramOrder())
        {
            ++m_next;
            return;
        }
        std::erase_if(m_ready, [task](const auto& entry) { return entry.task == task; });
    }

    void End(TaskId task, uint64_t bytes)
    {
        --m_inHand;
        m_bytes -= bytes;
        m_lastEnded = task;
    }

    /// The task that it had in hand last; UINT32_MAX: none.
    TaskId GetLastEnded() const
    {
        return m_lastEnded;
    }

  private:
    const StreamSpec* m_spec;
    std::span<const TaskId> m_program;
    std::set<Entry> m_ready;
    uint64_t m_sequence{0};
    uint64_t m_bytes{0}; //!< of communications in hand
    uint32_t m_next{0};  //!< place in the program
    uint32_t m_inHand{0};
    TaskId m_lastEnded{UINT32_MAX};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TASK_STREAM_H
