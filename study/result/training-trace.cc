// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-trace.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t PATH = 1; //!< thread of the critical path

/// Writes one job.
class TrainingTrace
{
  public:
    /// \param process of the critical path; those of the ranks follow \param flow number of the
    /// first arrow
    TrainingTrace(const RunResult& result,
                  const TrainingResult& training,
                  uint32_t process,
                  uint64_t flow,
                  TraceEvents& events)
        : m_result(result),
          m_training(training),
          m_workload(*training.workload),
          m_process(process),
          m_flow(flow),
          m_events(events),
          m_laneOf(m_workload.GetTasks().size(), 0)
    {
    }

    void Write()
    {
        const auto& job = m_result.jobs[m_training.job];
        m_events.NameProcess(m_process, "critical path of " + job.name);
        m_events.NameThread(m_process, PATH, "critical path");
        const auto nodes = m_result.topology->GetNodes();
        for (uint32_t rank = 0; rank < m_workload.GetRankCount(); ++rank)
        {
            const auto own = m_training.GetRank(rank);
            const auto node = m_result.topology->GetEndpoints()[job.endpointOf[own]];
            m_events.NameProcess(m_process + 1 + rank,
                                 fmt::format("{} rank {} ({})", job.name, own, nodes[node].name));
        }
        for (const auto& run : m_training.runs)
        {
            WritePath(run);
            for (uint32_t rank = 0; run.log && rank < m_workload.GetRankCount(); ++rank)
            {
                WriteRank(rank, run);
            }
            if (run.log)
            {
                WriteArrows(*run.log);
            }
        }
        NameThreads();
    }

    uint64_t GetFlow() const
    {
        return m_flow;
    }

  private:
    const std::string& GetLabel(const WorkloadTask& task) const
    {
        return m_workload.GetLabel(task.label);
    }

    void WritePath(const TrainingResult::Run& run)
    {
        m_critical.clear();
        for (const auto& step : run.path)
        {
            m_critical.insert(step.task);
            const auto& task = m_workload.GetTasks()[step.task];
            if (step.begin < step.end)
            {
                m_events.AddSpan(m_process,
                                 PATH,
                                 GetLabel(task),
                                 step.begin,
                                 step.end,
                                 fmt::format(", \"cat\": \"critical\", "
                                             "\"args\": {{\"iteration\": {}, \"rank\": {}, "
                                             "\"stream\": {}}}",
                                             run.firstIteration + task.iteration,
                                             m_training.GetRank(task.rank),
                                             QuoteJson(m_workload.GetStreams()[task.stream].name)));
            }
        }
    }

    /// From when on a task is drawn.
    Time GetBegin(const TaskLog& log, TaskId id) const
    {
        return m_workload.GetTasks()[id].IsCompute() ? log.GetBegin(id)
                                                     : GetWorkBegin(m_workload, log, id);
    }

    void WriteRank(uint32_t rank, const TrainingResult::Run& run)
    {
        const auto& log = *run.log;
        for (uint32_t stream = 0; stream < m_workload.GetStreams().size(); ++stream)
        {
            const auto program = m_workload.GetProgram(rank, stream);
            std::vector<std::pair<Time, TaskId>> order;
            for (const auto id : program)
            {
                if (GetBegin(log, id) < log.GetEnd(id))
                {
                    order.emplace_back(GetBegin(log, id), id);
                }
            }
            std::ranges::sort(order);
            Lanes lanes;
            for (const auto& [begin, id] : order)
            {
                m_laneOf[id] = lanes.Take(begin, log.GetEnd(id));
                WriteTask(id, begin, run);
            }
            auto& count = m_lanes[{rank, stream}];
            count = std::max(count, lanes.GetCount());
        }
    }

    void WriteTask(TaskId id, const Time& begin, const TrainingResult::Run& run)
    {
        const auto& task = m_workload.GetTasks()[id];
        auto more =
            fmt::format(", \"args\": {{\"iteration\": {}", run.firstIteration + task.iteration);
        if (!task.IsCompute())
        {
            const auto& plan = *m_workload.GetPlan(task.communication);
            more += fmt::format(", \"kind\": {}, \"ranks\": {}, \"bytes\": {}",
                                QuoteJson(plan.GetCollective().GetName()),
                                plan.GetRankCount(),
                                GetCollectiveBytes(plan));
        }
        m_events.AddSpan(m_process + 1 + task.rank,
                         GetThread(task.stream, m_laneOf[id]),
                         GetLabel(task),
                         begin,
                         run.log->GetEnd(id),
                         more + (m_critical.contains(id) ? "}, \"cat\": \"critical\"" : "}"));
    }

    /// From what a message's sender does to what its receiver does, where both take time.
    void WriteArrows(const TaskLog& log)
    {
        for (CommunicationId id = 0; id < m_workload.GetCommunications().size(); ++id)
        {
            const auto sender = m_workload.GetSender(id);
            for (const auto part : m_workload.GetParts(id))
            {
                if (sender && part != *sender && GetBegin(log, part) < log.GetEnd(part) &&
                    GetBegin(log, *sender) < log.GetEnd(*sender))
                {
                    WriteArrowEnd('s', *sender, *sender, log);
                    WriteArrowEnd('f', part, *sender, log);
                    ++m_flow;
                }
            }
        }
    }

    /// Viewers find the two ends by number, name and category: these are the sender's.
    void WriteArrowEnd(char phase, TaskId id, TaskId sender, const TaskLog& log)
    {
        const auto& task = m_workload.GetTasks()[id];
        m_events.AddArrowEnd(phase,
                             m_process + 1 + task.rank,
                             GetThread(task.stream, m_laneOf[id]),
                             GetLabel(m_workload.GetTasks()[sender]),
                             m_flow,
                             GetBegin(log, id),
                             m_critical.contains(sender));
    }

    uint32_t GetThread(uint32_t stream, uint32_t lane) const
    {
        return 1 + stream + lane * static_cast<uint32_t>(m_workload.GetStreams().size());
    }

    void NameThreads()
    {
        for (const auto& [key, count] : m_lanes)
        {
            const auto& [rank, stream] = key;
            for (uint32_t lane = 0; lane < count; ++lane)
            {
                const auto& name = m_workload.GetStreams()[stream].name;
                m_events.NameThread(m_process + 1 + rank,
                                    GetThread(stream, lane),
                                    lane == 0 ? name : fmt::format("{} {}", name, lane + 1));
            }
        }
    }

    const RunResult& m_result;
    const TrainingResult& m_training;
    const Workload& m_workload;
    uint32_t m_process;
    uint64_t m_flow;
    TraceEvents& m_events;
    std::set<TaskId> m_critical;                               //!< tasks on the path in hand
    std::vector<uint32_t> m_laneOf;                            //!< [task] of the iteration in hand
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_lanes; //!< (rank, stream) -> lanes
};

} // namespace

void
WriteTrainingTrace(const RunResult& result, TraceNumbers next, TraceEvents& events)
{
    auto [process, flow] = next;
    for (const auto& training : result.trainings)
    {
        TrainingTrace trace(result, training, process, flow, events);
        trace.Write();
        flow = trace.GetFlow();
        process += 1 + training.workload->GetRankCount();
    }
}

} // namespace ns3::gradsync
