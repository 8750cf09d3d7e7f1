// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RANKED_JOB_H
#define GRADSYNC_RANKED_JOB_H

#include "ns3/engine-job.h"
#include "ns3/execution-table.h"
#include "ns3/job-listener.h"
#include "ns3/nstime.h"
#include "ns3/scoped-event.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What all jobs have in common: a name, and ranks, which are applications at endpoints.
class RankedJob : public EngineJob
{
  public:
    ~RankedJob() override;

    // EngineJob
    const std::string& GetName() const final;
    Ptr<ExchangeApplication> GetApplication(uint32_t rank) const final;
    bool HasFailed() const final;
    std::optional<uint32_t> FindRank(uint32_t endpoint) const final;

  protected:
    /// \param endpointOf [rank] \param applications [rank]
    RankedJob(const JobSite& site,
              uint32_t index,
              std::string name,
              std::vector<uint32_t> endpointOf,
              std::vector<Ptr<ExchangeApplication>> applications);

    /// Makes the applications its ranks, until it ends. \param owner this job
    void Attach(RankOwner& owner);

    /// Whether this process simulates the rank.
    bool IsHere(uint32_t rank) const;

    /// Whether this process simulates any rank, or is told: else others do all that there is to do.
    bool TakesPart() const;

    /// What it does now has so long, then `onTimeout` is called, in every process that takes part;
    /// 0: no limit.
    void StartTimeout(const Time& timeout, std::function<void()> onTimeout);

    /// It was in time.
    void StopTimeout();

    /// Ends it: nothing of it goes on.
    void EndByFailure(std::string cause);

    /// Messages of its ranks that are under way.
    void AbandonMessages();

    JobSite m_site;
    uint32_t m_index;
    std::vector<Ptr<ExchangeApplication>> m_applications; //!< [rank]
    ExecutionTable m_executions;
    std::optional<std::string> m_failure; //!< why it has failed

  private:
    ScopedEvent m_timeoutEvent;
    std::string m_name;
    std::vector<uint32_t> m_endpointOf;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RANKED_JOB_H
