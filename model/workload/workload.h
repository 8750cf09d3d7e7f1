// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WORKLOAD_H
#define GRADSYNC_WORKLOAD_H

#include "ns3/plan.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

using TaskId = uint32_t;
using CommunicationId = uint32_t;

/// In which order a stream begins what is ready.
enum class StreamPolicy : uint8_t
{
    Program,  //!< in the order in which tasks were added, as streams of CUDA and NCCL do
    Fifo,     //!< what was ready first
    Lifo,     //!< what was ready last
    Priority, //!< the lowest priority number; of equal ones what was ready first
    Unordered //!< at once, whatever else is under way: messages that are posted
};

/**
 * A stream of every rank. It has one task in hand at a time; communications as many as its credit
 * holds.
 *
 * By program order, and where there is none, each rank begins its part of a communication on its
 * own and then waits for the others, as NCCL does. By the other policies a communication begins
 * when it is ready at all its ranks and none of their streams is busy, at all of them at once, as
 * after Horovod's negotiation: ranks that choose on their own would wait for each other for ever.
 */
struct StreamSpec
{
    /// Whether ranks begin on their own, without agreeing.
    bool BeginsAlone() const
    {
        return policy == StreamPolicy::Program || policy == StreamPolicy::Unordered;
    }

    std::string name;
    StreamPolicy policy{StreamPolicy::Program};
    /// Of communications that are under way at once (ByteScheduler, SOSP'19, section 4.2). One may
    /// always be. 0: one at a time.
    uint64_t creditBytes{0};
};

/// What a rank does on one of its streams: computes, or takes part in a communication.
struct WorkloadTask
{
    static constexpr CommunicationId COMPUTES = UINT32_MAX;

    uint64_t picoseconds{0}; //!< of a computation
    CommunicationId communication{COMPUTES};
    uint32_t member{0}; //!< of the communication's group
    uint32_t rank{0};
    int32_t priority{0};
    uint32_t label{0};
    uint16_t stream{0};
    uint16_t iteration{0}; //!< of those that the workload has

    bool IsCompute() const
    {
        return communication == COMPUTES;
    }
};

/// A collective, or one message, among the ranks of a group: one use of a plan.
struct Communication
{
    uint32_t group;
    uint32_t plan;
    uint32_t label;
};

/**
 * One training iteration, or several that overlap: a graph per rank of computations and
 * communications on streams.
 *
 * Edges are between tasks of one rank: ranks wait for each other by communications only. Plans are
 * shared by all communications of their shape. Built by WorkloadBuilder; never changes afterwards.
 */
class Workload
{
  public:
    uint32_t GetRankCount() const
    {
        return m_rankCount;
    }

    /// At least 1.
    uint32_t GetIterationCount() const
    {
        return m_iterationCount;
    }

    std::span<const StreamSpec> GetStreams() const
    {
        return m_streams;
    }

    std::span<const WorkloadTask> GetTasks() const
    {
        return m_tasks;
    }

    std::span<const Communication> GetCommunications() const
    {
        return m_communications;
    }

    /// Tasks that wait for `id`, ascending.
    std::span<const TaskId> GetSuccessors(TaskId id) const
    {
        return Slice(m_successors, m_successorOffsets, id);
    }

    /// [task] -> tasks that it waits for.
    std::vector<uint32_t> CountPredecessors() const;

    /// Of a rank on a stream, in the order in which they were added.
    std::span<const TaskId> GetProgram(uint32_t rank, uint32_t stream) const
    {
        return Slice(m_programs, m_programOffsets, rank * m_streams.size() + stream);
    }

    /// [member] -> its task.
    std::span<const TaskId> GetParts(CommunicationId id) const
    {
        return Slice(m_parts, m_partOffsets, id);
    }

    const std::shared_ptr<const Plan>& GetPlan(CommunicationId id) const
    {
        return m_plans[m_communications[id].plan];
    }

    /// [member] -> rank.
    std::span<const uint32_t> GetGroup(CommunicationId id) const
    {
        return m_groups[m_communications[id].group];
    }

    /// Of a message, whom nobody keeps waiting: the part of its sender. Of collectives: nothing.
    std::optional<TaskId> GetSender(CommunicationId id) const;

    const std::string& GetLabel(uint32_t label) const
    {
        return m_labels[label];
    }

    /// Whether the network aggregates for any of its communications.
    bool HasAggregations() const;

    /// Heap bytes held, plans included.
    uint64_t GetMemoryBytes() const;

  private:
    friend class WorkloadBuilder;

    static std::span<const uint32_t> Slice(const std::vector<uint32_t>& values,
                                           const std::vector<uint32_t>& offsets,
                                           size_t row)
    {
        return std::span(values).subspan(offsets[row], offsets[row + 1] - offsets[row]);
    }

    uint32_t m_rankCount{0};
    uint32_t m_iterationCount{1};
    std::vector<StreamSpec> m_streams;
    std::vector<WorkloadTask> m_tasks;
    std::vector<Communication> m_communications;
    std::vector<std::shared_ptr<const Plan>> m_plans;
    std::vector<std::vector<uint32_t>> m_groups;
    std::vector<std::string> m_labels;
    std::vector<uint32_t> m_successorOffsets;
    std::vector<TaskId> m_successors;
    std::vector<uint32_t> m_programOffsets;
    std::vector<TaskId> m_programs;
    std::vector<uint32_t> m_partOffsets;
    std::vector<TaskId> m_parts;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_WORKLOAD_H
