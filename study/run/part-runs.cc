// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/part-runs.h"

#include "ns3/callback.h"
#include "ns3/task-log.h"
#include "ns3/training-recorder.h"
#include "ns3/training-records.h"

#include <numeric>

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
    auto& run = m_runs.emplace_back(PartRun{.start = record.start.GetTimeStep(),
                                            .end = record.end.GetTimeStep(),
                                            .iteration = record.iteration,
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

ByteBatch
PackRuns(std::span<const PartRun> runs)
{
    ByteBatch batch;
    for (const auto& run : runs)
    {
        AppendPlain(batch, run.start);
        AppendPlain(batch, run.end);
        AppendPlain(batch, run.iteration);
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

PartRun
TakeRun(BatchReader& batch)
{
    PartRun run{};
    run.start = batch.Take<int64_t>();
    run.end = batch.Take<int64_t>();
    run.iteration = batch.Take<int64_t>();
    run.tasks = batch.TakeList<PartRun::Task>();
    return run;
}

/// \param parts of it of all processes that have any
void
MergeRun(std::span<const PartRun> parts, RunResult& result)
{
    const auto& training = result.trainings.front();
    TaskLog log(training.workload->GetTasks().size());
    for (const auto& part : parts)
    {
        for (const auto& task : part.tasks)
        {
            log.Begin(task.id, ToInstant(task.begin));
            log.End(task.id, ToInstant(task.end));
            log.SetCause(task.id, task.cause);
        }
    }
    const auto& any = parts.front();
    TrainingRecord record{.job = training.job,
                          .iteration = static_cast<uint32_t>(any.iteration),
                          .start = ToInstant(any.start),
                          .end = ToInstant(any.end),
                          .resumed = ToInstant(any.start),
                          .ranks = std::vector<uint32_t>(training.workload->GetRankCount()),
                          .workload = training.workload,
                          .log = &log};
    std::iota(record.ranks.begin(), record.ranks.end(), 0);
    AddTraining(record, result.recordTrace, result.trainings);
    const auto iterations = MakeIterationRecords(record);
    result.iterations.insert(result.iterations.end(), iterations.begin(), iterations.end());
}

} // namespace

void
MergeRuns(std::span<const ByteBatch> batches, RunResult& result)
{
    std::vector<BatchReader> readers(batches.begin(), batches.end());
    std::erase_if(readers, [](const auto& reader) { return reader.IsAtEnd(); });
    while (!readers.empty() && !readers.front().IsAtEnd())
    {
        std::vector<PartRun> parts;
        parts.reserve(readers.size());
        for (auto& reader : readers)
        {
            parts.push_back(TakeRun(reader));
        }
        MergeRun(parts, result);
    }
}

} // namespace ns3::gradsync
