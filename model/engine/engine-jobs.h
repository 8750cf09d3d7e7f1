// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ENGINE_JOBS_H
#define GRADSYNC_ENGINE_JOBS_H

#include "ns3/engine-job.h"
#include "ns3/exchange-records.h"
#include "ns3/state-words.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// All jobs of an engine, by index: what they have done together, and what happens to all of them.
class EngineJobs
{
  public:
    /// \param countBytes bytes that all transfers of all its iterations move; takes a walk along it
    void Add(std::shared_ptr<EngineJob> job, std::function<uint64_t()> countBytes);

    void Clear();

    uint32_t GetCount() const
    {
        return static_cast<uint32_t>(m_jobs.size());
    }

    EngineJob& Get(uint32_t job) const
    {
        return *m_jobs.at(job);
    }

    /// Whether every iteration of every job is done.
    bool AreFinished() const;

    /// Whether every job is finished or has failed.
    bool AreSettled() const;

    bool HaveLateOperations() const;

    /// See EngineJob.
    void AddState(StateWords& words) const;

    /// Of the first one that is not finished, if there is one: of those that have failed before
    /// others, as it says more than one that waits behind it.
    std::optional<ExchangeFailure> GetFailure() const;

    uint64_t CountDoneOperations() const;
    uint64_t CountRecordedCollectives() const;
    uint64_t CountTransferBytes() const;

    /// The first; empty: there is none.
    std::string FindTwinDifference() const;

    // What happens to hosts and switches.
    void OnCrash(uint32_t endpoint) const;
    void OnRestart(uint32_t endpoint) const;
    void OnNotice(uint32_t endpoint) const; //!< those with a rank there learn of the crash
    void OnRebuilt(uint32_t group) const;

  private:
    uint64_t Sum(uint64_t (EngineJob::*count)() const) const;

    std::vector<std::shared_ptr<EngineJob>> m_jobs; //!< shared with events that are due at once
    std::vector<std::function<uint64_t()>> m_byteCounts; //!< [job]
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ENGINE_JOBS_H
