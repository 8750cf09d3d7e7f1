// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/part-runs.h"

#include "ns3/callback.h"
#include "ns3/task-log.h"
#include "ns3/training-recorder.h"
#include "ns3/training-records.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace ns3::gradsync
{

PartRunRecorder::PartRunRecorder(const Ptr<ExchangeEngine>& engine, std::vector<PartRun>& runs)
    : m_engine(engine),
      m_runs(runs)
{
    m_engine->TraceConnectWithoutContext("Training",
                                         MakeCallback(&PartRunRecorder::OnTraining, this));
}

PartRunRecorder::~PartRunRecorder()
{
    m_engine->TraceDisconnectWithoutContext("Training",
                                            MakeCallback(&PartRunRecorder::OnTraining, this));
}

void
PartRunRecorder::OnTraining(const TrainingRecord& record)
{
    auto& run = m_runs.emplace_back(PartRun{.run = {.start = record.start.GetTimeStep(),
                                                    .end = record.end.GetTimeStep(),
                                                    .order = 0,
                                                    .iteration = record.iteration,
                                                    .job = record.job},
                                            .tasks = {}});
    for (TaskId id = 0; id < record.workload->GetTasks().size(); ++id)
    {
        if (record.log->HasEnded(id)) // else it is another process's
        {
            run.tasks.push_back({.begin = record.log->GetBegin(id).GetTimeStep(),
                                 .end = record.log->GetEnd(id).GetTimeStep(),
                                 .id = id,
                                 .cause = record.log->GetCause(id)});
        }
    }
}

void
SetOrders(std::span<const std::vector<uint64_t>> orders, std::span<PartRun> runs)
{
    std::vector<size_t> counts(orders.size()); // [job]
    for (auto& run : runs)
    {
        const auto job = run.run.job;
        run.run.order = orders[job][counts[job]++];
    }
}

ByteBatch
PackRuns(std::span<const PartRun> runs)
{
    ByteBatch batch;
    for (const auto& run : runs)
    {
        AppendPlain(batch, run.run);
        AppendList(batch, std::span<const PartRun::Task>(run.tasks));
    }
    return batch;
}

namespace
{

Time
ToInstant(int64_t steps)
{
    return TimeStep(static_cast<uint64_t>(steps));
}

/// A PartRun as it lies in a batch: of many iterations they take gigabytes.
struct RunView
{
    WorkloadRun run;
    PlainView<PartRun::Task> tasks;
};

/// Iterations that are told of at one instant: when they ended, or the run of a workload of which
/// they are.
struct Ended
{
    int64_t at;
    uint64_t order;
    std::vector<IterationRecord> iterations;
};

using PartsOfRuns = std::map<std::pair<uint32_t, uint32_t>, std::vector<RunView>>;

/// \returns those of all processes, by (job, first iteration)
PartsOfRuns
TakeRuns(std::span<const ByteBatch> batches)
{
    PartsOfRuns runs;
    for (const auto& bytes : batches)
    {
        BatchReader batch(bytes);
        while (!batch.IsAtEnd())
        {
            const auto run = batch.Take<WorkloadRun>();
            runs[{run.job, run.iteration}].push_back({run, batch.TakeView<PartRun::Task>()});
        }
    }
    return runs;
}

/// Adds a run to its training. \param parts of it of all processes that have any \returns its
/// iterations
Ended
MergeRun(std::span<const RunView> parts, RunResult& result)
{
    const auto& any = parts.front().run;
    const auto& training = *std::ranges::find(result.trainings, any.job, &TrainingResult::job);
    TaskLog log(training.workload->GetTasks().size());
    for (const auto& part : parts)
    {
        for (size_t i = 0; i < part.tasks.GetSize(); ++i)
        {
            const auto task = part.tasks[i];
            log.Begin(task.id, ToInstant(task.begin));
            log.End(task.id, ToInstant(task.end));
            log.SetCause(task.id, task.cause);
        }
    }
    TrainingRecord record{.job = training.job,
                          .iteration = any.iteration,
                          .start = ToInstant(any.start),
                          .end = ToInstant(any.end),
                          .resumed = ToInstant(any.start),
                          .ranks = std::vector<uint32_t>(training.workload->GetRankCount()),
                          .workload = training.workload,
                          .log = &log};
    std::iota(record.ranks.begin(), record.ranks.end(), 0);
    AddTraining(record, result.recordTrace, result.trainings);
    return {.at = any.end, .order = any.order, .iterations = MakeIterationRecords(record)};
}

} // namespace

void
MergeRuns(std::span<const ByteBatch> batches, std::span<const uint64_t> orders, RunResult& result)
{
    std::vector<Ended> all;
    for (size_t i = 0; i < result.iterations.size(); ++i)
    {
        const auto& record = result.iterations[i];
        all.push_back({.at = record.end.GetTimeStep(), .order = orders[i], .iterations = {record}});
    }
    for (const auto& [key, parts] : TakeRuns(batches))
    {
        all.push_back(MergeRun(parts, result));
    }
    std::ranges::sort(all, [](const auto& one, const auto& other) {
        return std::tie(one.at, one.order) < std::tie(other.at, other.order);
    });
    result.iterations.clear();
    for (const auto& ended : all)
    {
        result.iterations.insert(result.iterations.end(),
                                 ended.iterations.begin(),
                                 ended.iterations.end());
    }
}

} // namespace ns3::gradsync
