// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/workload-estimator.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <set>
#include <tuple>

namespace ns3::gradsync
{

namespace
{

/// Runs a workload with communications of known length.
class TimedWalk
{
  public:
    /// \param durations [communication] in picoseconds
    TimedWalk(const Workload& workload, std::vector<uint64_t> durations)
        : m_workload(workload),
          m_durations(std::move(durations)),
          m_waiting(workload.CountPredecessors()),
          m_began(workload.GetTasks().size(), NEVER),
          m_absent(workload.GetCommunications().size()),
          m_streams(workload.GetRankCount() * workload.GetStreams().size())
    {
        for (CommunicationId id = 0; id < m_absent.size(); ++id)
        {
            m_absent[id] = static_cast<uint32_t>(workload.GetGroup(id).size());
        }
    }

    /// \returns when all is done, in picoseconds
    uint64_t Run()
    {
        for (TaskId id = 0; id < m_waiting.size(); ++id)
        {
            if (m_waiting[id] == 0)
            {
                Reach(id);
            }
        }
        ServeDue();
        while (!m_ends.empty())
        {
            m_now = m_ends.top().first;
            while (!m_ends.empty() && m_ends.top().first == m_now)
            {
                const auto id = m_ends.top().second;
                m_ends.pop();
                Leave(id);
            }
            ServeDue();
        }
        return m_now;
    }

  private:
    static constexpr uint64_t NEVER = UINT64_MAX;

    struct Stream
    {
        uint32_t next{0}; //!< place in the program
        bool isBusy{false};
        uint64_t sequence{0};
        std::set<std::tuple<int64_t, uint64_t, TaskId>> ready{}; //!< by policy
    };

    const WorkloadTask& GetTask(TaskId id) const
    {
        return m_workload.GetTasks()[id];
    }

    size_t GetStreamIndex(TaskId id) const
    {
        const auto& task = GetTask(id);
        return task.rank * m_workload.GetStreams().size() + task.stream;
    }

    StreamPolicy GetPolicy(TaskId id) const
    {
        return m_workload.GetStreams()[GetTask(id).stream].policy;
    }

    void Reach(TaskId id)
    {
        if (GetPolicy(id) == StreamPolicy::Program)
        {
            ServeInOrder(GetStreamIndex(id));
            return;
        }
        const auto& task = GetTask(id);
        if (task.IsCompute())
        {
            Push(id);
        }
        else if (--m_absent[task.communication] == 0)
        {
            std::ranges::for_each(m_workload.GetParts(task.communication),
                                  [this](TaskId part) { Push(part); });
        }
    }

    void Push(TaskId id)
    {
        const auto index = GetStreamIndex(id);
        auto& stream = m_streams[index];
        const auto sequence = static_cast<int64_t>(++stream.sequence);
        const auto policy = GetPolicy(id);
        const auto order = policy == StreamPolicy::Lifo       ? -sequence
                           : policy == StreamPolicy::Priority ? GetTask(id).priority
                                                              : 0;
        stream.ready.insert({order, stream.sequence, id});
        m_due.insert(index);
    }

    void ServeInOrder(size_t index)
    {
        auto& stream = m_streams[index];
        const auto streams = m_workload.GetStreams().size();
        const auto program = m_workload.GetProgram(static_cast<uint32_t>(index / streams),
                                                   static_cast<uint32_t>(index % streams));
        if (!stream.isBusy && stream.next < program.size() && m_waiting[program[stream.next]] == 0)
        {
            Begin(program[stream.next++]);
        }
    }

    void ServeDue()
    {
        for (const auto index : std::exchange(m_due, {}))
        {
            ServeByPolicy(m_streams[index]);
        }
    }

    void ServeByPolicy(Stream& stream)
    {
        const auto isFree = [this](TaskId id) { return !m_streams[GetStreamIndex(id)].isBusy; };
        for (const auto& [order, sequence, id] : stream.ready)
        {
            const auto& task = GetTask(id);
            if (task.IsCompute()
                    ? isFree(id)
                    : std::ranges::all_of(m_workload.GetParts(task.communication), isFree))
            {
                BeginChosen(id);
                return;
            }
        }
    }

    void BeginChosen(TaskId id)
    {
        const auto& task = GetTask(id);
        const auto take = [this](TaskId taken, uint64_t duration) {
            auto& stream = m_streams[GetStreamIndex(taken)];
            std::erase_if(stream.ready,
                          [taken](const auto& entry) { return std::get<2>(entry) == taken; });
            stream.isBusy = true;
            m_ends.emplace(m_now + duration, taken);
        };
        if (task.IsCompute())
        {
            take(id, task.picoseconds);
            return;
        }
        for (const auto part : m_workload.GetParts(task.communication))
        {
            take(part, m_durations[task.communication]);
        }
    }

    /// A stream in program order has come to it.
    void Begin(TaskId id)
    {
        const auto& task = GetTask(id);
        m_streams[GetStreamIndex(id)].isBusy = true;
        m_began[id] = m_now;
        if (task.IsCompute())
        {
            m_ends.emplace(m_now + task.picoseconds, id);
            return;
        }
        const auto duration = m_durations[task.communication];
        const auto sender = m_workload.GetSender(task.communication);
        if (sender == id)
        {
            m_ends.emplace(m_now + duration, id);
        }
        if (--m_absent[task.communication] > 0)
        {
            return;
        }
        // A message is under way since its sender began, a collective since its last rank did.
        const auto since = sender ? m_began[*sender] : m_now;
        for (const auto part : m_workload.GetParts(task.communication))
        {
            if (part != sender)
            {
                m_ends.emplace(std::max(m_now, since + duration), part);
            }
        }
    }

    void Leave(TaskId id)
    {
        const auto index = GetStreamIndex(id);
        m_streams[index].isBusy = false;
        for (const auto later : m_workload.GetSuccessors(id))
        {
            if (--m_waiting[later] == 0)
            {
                Reach(later);
            }
        }
        if (GetPolicy(id) == StreamPolicy::Program)
        {
            ServeInOrder(index);
        }
        else
        {
            m_due.insert(index);
        }
    }

    const Workload& m_workload;
    std::vector<uint64_t> m_durations;
    std::vector<uint32_t> m_waiting; //!< [task]
    std::vector<uint64_t> m_began;   //!< [task] of streams in program order
    std::vector<uint32_t> m_absent;  //!< [communication]
    std::vector<Stream> m_streams;   //!< [rank * streams + stream]
    std::set<size_t> m_due;          //!< streams to serve when the instant is over
    std::priority_queue<std::pair<uint64_t, TaskId>,
                        std::vector<std::pair<uint64_t, TaskId>>,
                        std::greater<>>
        m_ends;
    uint64_t m_now{0};
};

} // namespace

WorkloadEstimator::WorkloadEstimator(const Topology& topology, const NetworkModel& model)
    : m_estimator(topology, model)
{
}

uint64_t
WorkloadEstimator::GetPicoseconds(const Place& place, double reduceSecondsPerByte)
{
    const auto [found, isNew] = m_known.emplace(place, 0);
    if (isNew)
    {
        const PlacedPlan placed{*place.first, place.second, reduceSecondsPerByte};
        // Where an estimate would take too long, the bound has to do.
        const auto estimate = m_estimator.Estimate(placed);
        const auto seconds = estimate ? *estimate : m_estimator.GetLowerBound(placed);
        found->second = static_cast<uint64_t>(std::llround(seconds * 1e12));
    }
    return found->second;
}

double
WorkloadEstimator::Estimate(const Workload& workload,
                            std::span<const uint32_t> endpointOf,
                            double reduceSecondsPerByte)
{
    std::vector<uint64_t> durations;
    for (CommunicationId id = 0; id < workload.GetCommunications().size(); ++id)
    {
        Place place{workload.GetPlan(id), {}};
        for (const auto rank : workload.GetGroup(id))
        {
            place.second.push_back(endpointOf[rank]);
        }
        durations.push_back(GetPicoseconds(place, reduceSecondsPerByte));
    }
    return static_cast<double>(TimedWalk(workload, std::move(durations)).Run()) * 1e-12;
}

} // namespace ns3::gradsync
