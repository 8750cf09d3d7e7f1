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

/// Which run of a workload, and when; in time steps.
struct WorkloadRun
{
    int64_t start;
    int64_t end;
    uint64_t order;     //!< of its end among those at the same instant, see WindowProtocol
    uint32_t iteration; //!< the first of those of the workload
    uint32_t job;
};

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

    WorkloadRun run;
    std::vector<Task> tasks;
};

/// Keeps the runs of the jobs of an engine that train, but for their orders. Listens from now until
/// it is destroyed.
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

/// Sets the orders of all runs. \param orders [job] see WindowProtocol
void SetOrders(std::span<const std::vector<uint64_t>> orders, std::span<PartRun> runs);

/// For process 0.
ByteBatch PackRuns(std::span<const PartRun> runs);

/// Adds the runs to trainings and iterations as one process alone would have recorded them.
/// \param batches [process] as of PackRuns; a process without ranks of a job has none of it, or
/// runs without tasks \param orders of the iterations that are there, see MergedReport
void MergeRuns(std::span<const ByteBatch> batches,
               std::span<const uint64_t> orders,
               RunResult& result);

} // namespace ns3::gradsync

#endif // GRADSYNC_PART_RUNS_H
