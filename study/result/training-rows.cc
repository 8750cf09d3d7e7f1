// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-rows.h"

#include "ns3/busiest-link.h"
#include "ns3/row-writer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

namespace
{

std::string_view
NameRankHost(const RunResult& result, const TrainingResult& training, uint32_t rank)
{
    const auto endpoint = result.jobs[training.job].endpointOf[training.GetRank(rank)];
    return result.topology->GetNodes()[result.topology->GetEndpoints()[endpoint]].name;
}

/// [rank * streams + stream] whether the rank communicates on it.
std::vector<bool>
FindCommunicatingStreams(const Workload& workload)
{
    const auto streams = workload.GetStreams().size();
    std::vector<bool> communicates(workload.GetRankCount() * streams, false);
    for (const auto& task : workload.GetTasks())
    {
        if (!task.IsCompute())
        {
            communicates[task.rank * streams + task.stream] = true;
        }
    }
    return communicates;
}

/// A mean of times.
TimeCell
Average(const Time& sum, uint64_t count)
{
    return {TimeStep(sum.GetTimeStep() / static_cast<int64_t>(count))};
}

/// What a step of a critical path says beside its time.
struct StepCells
{
    std::string_view kind{"computation"};
    std::optional<uint64_t> bytes;
    std::string_view from; //!< of the link
    std::string_view to;
};

StepCells
DescribeStep(const RunResult& result,
             const TrainingResult& training,
             const WorkloadTask& task,
             BusiestLink& links)
{
    StepCells cells;
    if (task.IsCompute())
    {
        return cells;
    }
    const auto& plan = *training.workload->GetPlan(task.communication);
    cells.kind = plan.GetCollective().GetName();
    cells.bytes = GetCollectiveBytes(plan);
    if (const auto port = links.Find(task.communication))
    {
        const auto nodes = result.topology->GetNodes();
        const auto& link = result.topology->GetLinks()[*port / 2];
        cells.from = nodes[*port % 2 == 0 ? link.a : link.b].name;
        cells.to = nodes[*port % 2 == 0 ? link.b : link.a].name;
    }
    return cells;
}

} // namespace

void
WriteTraining(const RunResult& result, std::ostream& stream)
{
    RowWriter<TRAINING_COLUMNS> rows(stream);
    for (const auto& training : result.trainings)
    {
        const auto& memory = training.figures.memoryBytes;
        const auto& inFlight = training.figures.inFlight;
        for (const auto& iteration : training.iterations)
        {
            for (uint32_t rank = 0; rank < iteration.ranks.size(); ++rank)
            {
                const auto& time = iteration.ranks[rank];
                rows.Add(result.jobs[training.job].name,
                         iteration.iteration,
                         training.GetRank(rank),
                         NameRankHost(result, training, rank),
                         TimeCell{iteration.span.start},
                         TimeCell{iteration.span.end - iteration.span.start},
                         TimeCell{time.computation},
                         TimeCell{time.hidden},
                         TimeCell{time.exposed},
                         TimeCell{time.waiting},
                         TimeCell{time.bubble},
                         TimeCell{iteration.lost},
                         inFlight.empty() ? std::nullopt : std::optional(inFlight[rank]),
                         memory.empty() ? std::nullopt : std::optional(memory[rank]));
            }
        }
    }
}

void
WriteStreams(const RunResult& result, std::ostream& stream)
{
    RowWriter<STREAM_COLUMNS> rows(stream);
    for (const auto& training : result.trainings)
    {
        const auto streams = training.workload->GetStreams();
        const auto communicates = FindCommunicatingStreams(*training.workload);
        for (const auto& iteration : training.iterations)
        {
            for (uint32_t rank = 0; rank < iteration.ranks.size(); ++rank)
            {
                for (uint32_t own = 0; own < streams.size(); ++own)
                {
                    if (!communicates[rank * streams.size() + own])
                    {
                        continue;
                    }
                    const auto& time = iteration.ranks[rank].streams[own];
                    rows.Add(result.jobs[training.job].name,
                             iteration.iteration,
                             training.GetRank(rank),
                             streams[own].name,
                             TimeCell{time.GetTotal()},
                             TimeCell{time.hidden},
                             TimeCell{time.exposed});
                }
            }
        }
    }
}

void
WriteCollectives(const RunResult& result, std::ostream& stream)
{
    RowWriter<COLLECTIVE_COLUMNS> rows(stream);
    const auto toCell = [](const std::optional<double>& value) {
        return value ? std::optional(NumberCell{*value}) : std::nullopt;
    };
    for (const auto& training : result.trainings)
    {
        for (const auto& [shape, times] : training.collectives.Get())
        {
            const auto algorithm = times.GetAlgorithmBandwidth(shape.bytes);
            rows.Add(result.jobs[training.job].name,
                     shape.stream,
                     shape.label,
                     shape.kind,
                     shape.groupSize,
                     shape.bytes,
                     times.count,
                     Average(times.sum, times.count),
                     TimeCell{times.least},
                     TimeCell{times.most},
                     Average(times.sinceFirst, times.count),
                     Average(times.exposed, times.parts),
                     toCell(algorithm),
                     toCell(algorithm && shape.busFactor
                                ? std::optional(*algorithm * *shape.busFactor)
                                : std::nullopt));
        }
    }
}

void
WriteCriticalPaths(const RunResult& result, std::ostream& stream)
{
    RowWriter<CRITICAL_COLUMNS> rows(stream);
    for (const auto& training : result.trainings)
    {
        BusiestLink links(result, training);
        const auto& workload = *training.workload;
        for (const auto& run : training.runs)
        {
            uint32_t number = 0;
            for (const auto& step : run.path)
            {
                const auto& task = workload.GetTasks()[step.task];
                if (step.end == step.begin)
                {
                    continue;
                }
                const auto cells = DescribeStep(result, training, task, links);
                rows.Add(result.jobs[training.job].name,
                         run.firstIteration + task.iteration,
                         number++,
                         training.GetRank(task.rank),
                         NameRankHost(result, training, task.rank),
                         workload.GetStreams()[task.stream].name,
                         workload.GetLabel(task.label),
                         cells.kind,
                         TimeCell{step.begin},
                         TimeCell{step.end},
                         cells.bytes,
                         cells.from,
                         cells.to);
            }
        }
    }
}

} // namespace ns3::gradsync
