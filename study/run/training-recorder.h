// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_RECORDER_H
#define GRADSYNC_TRAINING_RECORDER_H

#include "ns3/exchange-engine.h"
#include "ns3/nstime.h"
#include "ns3/run-result.h"
#include "ns3/task-log.h"
#include "ns3/training-job.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace ns3::gradsync
{

/// Adds a run of a workload to what is kept of its job. \param record with the log of all tasks
/// \param keepsTasks for a timeline \param trainings one of each job, behind which those of
/// survivors come
void AddTraining(const TrainingRecord& record,
                 bool keepsTasks,
                 std::vector<TrainingResult>& trainings);

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

    /// From now on the last few runs are kept as they were, for Repeat.
    void KeepRuns()
    {
        m_keepsRuns = true;
    }

    /// How often a workload was run so far.
    size_t CountRuns() const
    {
        return m_runCount;
    }

    /// How many of the last ones Repeat may have.
    static constexpr size_t MAX_KEPT = 16;

    /**
     * The runs since there were `begin`, which KeepRuns keeps, happen `count` times more, and what
     * follows comes later by that.
     * \param length of these runs \param iterations of these runs
     */
    void Repeat(size_t begin, uint32_t count, const Time& length, uint32_t iterations);

  private:
    struct KeptRun
    {
        TrainingRecord record;
        TaskLog log;
    };

    void OnTraining(const TrainingRecord& record);
    void AddLater(TrainingRecord record, const TaskLog& log);

    Ptr<ExchangeEngine> m_engine;
    std::vector<TrainingResult>& m_trainings;
    bool m_keepsTasks;
    bool m_keepsRuns{false};
    std::deque<KeptRun> m_kept; //!< the newest last
    size_t m_runCount{0};
    Time m_later;                  //!< than simulated time, what is recorded now
    uint32_t m_laterIterations{0}; //!< likewise
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_RECORDER_H
