// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ENGINE_JOB_H
#define GRADSYNC_ENGINE_JOB_H

#include "ns3/exchange-application.h"
#include "ns3/exchange-records.h"
#include "ns3/state-words.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ns3::gradsync
{

/// What an engine runs: iterations that exchange a gradient, or whole training iterations.
class EngineJob
{
  public:
    virtual ~EngineJob() = default;

    virtual const std::string& GetName() const = 0;
    virtual Ptr<ExchangeApplication> GetApplication(uint32_t rank) const = 0;
    virtual bool IsFinished() const = 0;
    virtual bool HasFailed() const = 0;
    /// Of a job that is not finished.
    virtual ExchangeFailure DescribeFailure() const = 0;

    /// Those that it has run and transfers name.
    virtual std::span<const ExecutedPlan> GetPlans() const
    {
        return {};
    }

    /// Of all executions so far.
    virtual uint64_t CountDoneOperations() const = 0;

    /// What decides how it goes on, at an IterationBoundary; by default it refuses.
    virtual void AddState(StateWords& words) const
    {
        words.Refuse("the job does not tell its state");
    }

    /// Collectives that were not simulated, as equal ones had been.
    virtual uint64_t CountRecordedCollectives() const
    {
        return 0;
    }

    /// Why what was simulated is none of the job, one line: planes of the network that stood for
    /// others differ from them (TwinPlanes). Empty: it is one. When the simulation is over.
    virtual std::string FindTwinDifference() const
    {
        return {};
    }

    /// Whether ranks still do what nobody waits for.
    virtual bool HasLateOperations() const
    {
        return false;
    }

    // What happens to hosts and switches.
    virtual std::optional<uint32_t> FindRank(uint32_t endpoint) const = 0;
    virtual void OnCrash(uint32_t endpoint) = 0;
    virtual void OnRestart(uint32_t endpoint) = 0;
    /// The job learns that a rank has crashed.
    virtual void OnNotice(uint32_t rank) = 0;

    /// Other switches aggregate for a group of the transport.
    virtual void OnRebuilt(uint32_t /* group */)
    {
    }

  protected:
    EngineJob() = default;
    EngineJob(const EngineJob&) = delete;
    EngineJob& operator=(const EngineJob&) = delete;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ENGINE_JOB_H
