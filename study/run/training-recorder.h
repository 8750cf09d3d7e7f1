// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_RECORDER_H
#define GRADSYNC_TRAINING_RECORDER_H

#include "ns3/exchange-engine.h"
#include "ns3/run-result.h"

#include <vector>

namespace ns3::gradsync
{

/// Keeps what the training iterations of an engine did: what they are made of and what bounds them,
/// as the tasks of thousands of iterations would take the memory of a machine.
class TrainingRecorder
{
  public:
    /// Listens from now until it is destroyed. \param trainings one of each job, behind which those
    /// of survivors come \param keepsTasks of all iterations, for a timeline
    TrainingRecorder(const Ptr<ExchangeEngine>& engine,
                     std::vector<TrainingResult>& trainings,
                     bool keepsTasks);
    ~TrainingRecorder();
    TrainingRecorder(const TrainingRecorder&) = delete;
    TrainingRecorder& operator=(const TrainingRecorder&) = delete;

  private:
    void OnTraining(const TrainingRecord& record);
    TrainingResult& FindResult(const TrainingRecord& record);

    Ptr<ExchangeEngine> m_engine;
    std::vector<TrainingResult>& m_trainings;
    bool m_keepsTasks;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_RECORDER_H
