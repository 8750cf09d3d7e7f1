// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_JOB_LISTENER_H
#define GRADSYNC_JOB_LISTENER_H

#include "ns3/asynchronous-job.h"
#include "ns3/exchange-records.h"
#include "ns3/training-job.h"
#include "ns3/transport.h"

#include <cstdint>

namespace ns3::gradsync
{

class HostSlowdowns;
class RankShare;
class SendingTurns;

/// Is told what the jobs of an engine do.
class JobListener
{
  public:
    /// Whether somebody wants to know of transfers; asked when an iteration begins.
    virtual bool IsTransferTraced() const = 0;
    virtual void OnTransfer(const TransferRecord& record) = 0;
    /// A message of that many bytes has arrived.
    virtual void OnDelivered(uint64_t bytes) = 0;
    /// Likewise of what ranks compute for operations; may be asked at any time.
    virtual bool IsWorkTraced() const = 0;
    virtual void OnWork(const WorkRecord& record) = 0;
    virtual void OnComputation(const ComputeRecord& record) = 0;
    virtual void OnReaction(const ReactionRecord& record) = 0;
    virtual void OnIteration(const IterationRecord& record) = 0;
    /// Whether somebody wants to know of boundaries.
    virtual bool WatchesBoundaries() const = 0;
    /// After OnIteration, in an event of its own, of jobs that run the same plan in each iteration.
    /// \returns how many of those that are left are left out
    virtual uint32_t OnBoundary(const IterationBoundary& boundary) = 0;
    /// The same of a workload; before OnIteration.
    virtual void OnTraining(const TrainingRecord& record) = 0;
    /// Of a job whose workers do not wait for each other.
    virtual void OnUpdate(const UpdateRecord& record) = 0;
    /// Of such a job: a worker goes on to its next step, or has done its last one.
    virtual void OnWorkerStep(const WorkerStepRecord& record) = 0;
    /// All its iterations are done.
    virtual void OnJobFinished() = 0;
    virtual void OnJobFailed() = 0;

  protected:
    ~JobListener() = default;
};

/// Where jobs run.
struct JobSite
{
    Ptr<Transport> transport;
    const HostSlowdowns* slowdowns; //!< outlives the job
    JobListener* listener;          //!< likewise
    RankShare* share;               //!< likewise; nullptr: all ranks are simulated here
    SendingTurns* turns;            //!< likewise, of all jobs
    bool recordsCollectives{
        false}; //!< the job is all that uses the network, and may leave out what it knows
    bool hasTwinPlanes{false}; //!< and planes of the network may stand for each other
};

} // namespace ns3::gradsync

#endif // GRADSYNC_JOB_LISTENER_H
