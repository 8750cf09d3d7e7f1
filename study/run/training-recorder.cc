// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-recorder.h"

#include "ns3/callback.h"
#include "ns3/task-log.h"

namespace ns3::gradsync
{

TrainingRecorder::TrainingRecorder(const Ptr<ExchangeEngine>& engine,
                                   uint32_t firstJob,
                                   std::vector<TrainingResult>& trainings)
    : m_engine(engine),
      m_firstJob(firstJob),
      m_trainings(trainings)
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
    training.last = {record.iteration, record.start, record.end, *record.log};
}

} // namespace ns3::gradsync
