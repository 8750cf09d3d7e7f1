// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PART_RUNS_H
#define GRADSYNC_PART_RUNS_H

#include "ns3/byte-batch.h"
#include "ns3/exchange-engine.h"
#include "ns3/run-result.h"
#include "ns3/training-job.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// A run of a workload of which one of several processes simulated some ranks; in time steps.
struct PartRun
{
    /// What a TaskLog has of one of their tasks.
    struct Task
    {
        int64_t begin;
        int64_t end;
        TaskId id;
        TaskId cause;
    };

    int64_t start;
    int64_t end;
    int64_t iteration; //!< the first of those of the workload
    std::vector<Task> tasks;
};

/// Keeps the runs of the only job of an engine that trains. Listens from now until it is destroyed.
class PartRunRecorder
{
  public:
    /// \param runs get them; they outlive it
    PartRunRecorder(const Ptr<ExchangeEngine>& engine, std::vector<PartRun>& runs);
    ~PartRunRecorder();
    PartRunRecorder(const PartRunRecorder&) = delete;
    PartRunRecorder& operator=(const PartRunRecorder&) = delete;

  private:
    void OnTraining(const TrainingRecord& record);

    Ptr<ExchangeEngine> m_engine;
    std::vector<PartRun>& m_runs;
};

/// For process 0.
ByteBatch PackRuns(std::span<const PartRun> runs);

/// Adds the runs to trainings and iterations as one process alone would have recorded them.
/// \param batches [process] as of PackRuns; a process without ranks of the job has none, or runs
/// without tasks
void MergeRuns(std::span<const ByteBatch> batches, RunResult& result);

} // namespace ns3::gradsync

#endif // GRADSYNC_PART_RUNS_H
