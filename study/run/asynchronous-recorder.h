// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ASYNCHRONOUS_RECORDER_H
#define GRADSYNC_ASYNCHRONOUS_RECORDER_H

#include "ns3/asynchronous-result.h"
#include "ns3/exchange-engine.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/// Keeps what the asynchronous jobs of an engine did: sums, and a sample of updates, as all of them
/// would take the memory of a machine.
class AsynchronousRecorder
{
  public:
    /// Listens from now until it is destroyed. \param results of the jobs from `firstJob` on
    AsynchronousRecorder(const Ptr<ExchangeEngine>& engine,
                         uint32_t firstJob,
                         std::vector<AsynchronousResult>& results);
    ~AsynchronousRecorder();
    AsynchronousRecorder(const AsynchronousRecorder&) = delete;
    AsynchronousRecorder& operator=(const AsynchronousRecorder&) = delete;

  private:
    /// A stage of a job, until its first worker is done.
    struct FullStage
    {
        std::optional<uint32_t> stage;
        Time begin;
        Time timeBefore;           //!< of earlier stages
        std::optional<Time> until; //!< that worker was done
    };

    void OnUpdate(const UpdateRecord& record);
    void OnStep(const WorkerStepRecord& record);
    void CountFullStep(const WorkerStepRecord& record);

    Ptr<ExchangeEngine> m_engine;
    uint32_t m_firstJob;
    std::vector<AsynchronousResult>& m_results;
    std::vector<FullStage> m_stages; //!< [job]
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ASYNCHRONOUS_RECORDER_H
