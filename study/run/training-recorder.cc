// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-recorder.h"

#include "ns3/callback.h"
#include "ns3/critical-path.h"
#include "ns3/iteration-breakdown.h"
#include "ns3/task-log.h"

#include <optional>
#include <utility>

namespace ns3::gradsync
{

TrainingRecorder::TrainingRecorder(const Ptr<ExchangeEngine>& engine,
                                   uint32_t firstJob,
                                   std::vector<TrainingResult>& trainings,
                                   bool keepsTasks)
    : m_engine(engine),
      m_firstJob(firstJob),
      m_trainings(trainings),
      m_keepsTasks(keepsTasks)
{
    m_engine->TraceConnectWithoutContext("Training",
                                         MakeCallback(&TrainingRecorder::OnTraining, this));
}

TrainingRecorder::~TrainingRecorder()
{
    m_engine->TraceDisconnectWithoutContext("Training",
                                            MakeCallback(&TrainingRecorder::OnTraining, this));
}

void
TrainingRecorder::OnTraining(const TrainingRecord& record)
{
    auto& training = m_trainings.at(record.job - m_firstJob);
    if (record.workload != training.workload.get())
    {
        return; // that of survivors: its tasks are others
    }
    const IterationSpan run{record.start, record.end};
    const auto spans = SplitIterations(*record.workload, *record.log, run);
    auto ranks = BreakDownIterations(*record.workload, *record.log, spans);
    for (uint32_t i = 0; i < spans.size(); ++i)
    {
        training.iterations.push_back({record.iteration + i, spans[i], std::move(ranks[i])});
    }
    training.runs.push_back({record.iteration,
                             run,
                             FindCriticalPath(*record.workload, *record.log),
                             m_keepsTasks ? std::optional(*record.log) : std::nullopt});
    training.collectives.Add(*record.workload, *record.log);
}

} // namespace ns3::gradsync
