// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_STAGE_PROGRESS_H
#define GRADSYNC_STAGE_PROGRESS_H

#include "ns3/asynchronous-job.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// How far the workers of an asynchronous job are: its stages, and the steps of the one in hand.
class StageProgress
{
  public:
    /// \param job outlives it
    explicit StageProgress(const AsynchronousJob& job);

    /// All stages are done.
    bool IsFinished() const;

    /// From 0; all of what follows is of the stage in hand.
    uint32_t GetNumber() const;
    const AsynchronousStage& GetStage() const;

    /// Steps of a worker in earlier stages.
    uint32_t GetStepsBefore() const;

    /// Its workers that are not lost, ascending.
    const std::vector<uint32_t>& GetActive() const;

    /// Steps that a worker has computed.
    uint32_t GetStep(uint32_t worker) const;

    /// Whether it has more to do.
    bool IsWorking(uint32_t worker) const;
    bool IsLost(uint32_t worker) const;

    /// Its workers begin with step 0.
    void Begin();

    /// One more is computed. \returns GetStep
    uint32_t CountStep(uint32_t worker);

    /// The worker waits for nothing more of its step.
    void Complete(uint32_t worker);

    void Lose(uint32_t worker);

    /// No worker has more to do.
    bool IsDone() const;

    /// Steps that all have completed; the last one is when the stage is.
    uint32_t CountCompleted() const;

    void End();

  private:
    struct Worker
    {
        uint32_t step{0};
        uint32_t completed{0};
        bool isWorking{false};
        bool isLost{false};
    };

    const AsynchronousJob& m_job;
    std::vector<Worker> m_workers;
    std::vector<uint32_t> m_active;
    uint32_t m_number{0};
    uint32_t m_stepsBefore{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_STAGE_PROGRESS_H
