// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/asynchronous-recorder.h"

#include "ns3/callback.h"

#include <algorithm>

namespace ns3::gradsync
{

AsynchronousRecorder::AsynchronousRecorder(const Ptr<ExchangeEngine>& engine,
                                           uint32_t firstJob,
                                           std::vector<AsynchronousResult>& results)
    : m_engine(engine),
      m_firstJob(firstJob),
      m_results(results),
      m_stages(results.size())
{
    m_engine->TraceConnectWithoutContext("Update",
                                         MakeCallback(&AsynchronousRecorder::OnUpdate, this));
    m_engine->TraceConnectWithoutContext("WorkerStep",
                                         MakeCallback(&AsynchronousRecorder::OnStep, this));
}

AsynchronousRecorder::~AsynchronousRecorder()
{
    m_engine->TraceDisconnectWithoutContext("Update",
                                            MakeCallback(&AsynchronousRecorder::OnUpdate, this));
    m_engine->TraceDisconnectWithoutContext("WorkerStep",
                                            MakeCallback(&AsynchronousRecorder::OnStep, this));
}

void
AsynchronousRecorder::OnUpdate(const UpdateRecord& record)
{
    auto& result = m_results.at(record.job - m_firstJob);
    auto& worker = result.workers[record.worker];
    ++worker.updates;
    worker.stalenessSum += record.staleness;
    worker.mostStaleness = std::max(worker.mostStaleness, record.staleness);
    worker.mostAhead = std::max(worker.mostAhead, record.ahead);
    result.updates.Add(record);
}

void
AsynchronousRecorder::OnStep(const WorkerStepRecord& record)
{
    auto& worker = m_results.at(record.job - m_firstJob).workers[record.worker];
    ++worker.steps;
    worker.fetches += record.fetches;
    worker.requests += record.requests;
    worker.time += record.end - record.start;
    worker.compute += record.compute;
    worker.held += record.held;
    CountFullStep(record);
}

/// The steps of those that are done at the same time as the first one count, too.
void
AsynchronousRecorder::CountFullStep(const WorkerStepRecord& record)
{
    auto& result = m_results[record.job - m_firstJob];
    auto& full = m_stages[record.job - m_firstJob];
    if (full.stage != record.stage)
    {
        full = {record.stage, record.start, result.fullTime, {}};
    }
    if (full.until && record.end > *full.until)
    {
        return;
    }
    // The first record of a stage may be of a worker that has begun later than others.
    full.begin = std::min(full.begin, record.start);
    ++result.fullSteps;
    result.fullTime = full.timeBefore + (record.end - full.begin);
    if (record.step == result.spec.stages[record.stage].steps)
    {
        full.until = record.end;
    }
}

} // namespace ns3::gradsync
