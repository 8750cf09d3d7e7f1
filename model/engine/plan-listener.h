// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_LISTENER_H
#define GRADSYNC_PLAN_LISTENER_H

#include "ns3/nstime.h"
#include "ns3/operation.h"

#include <cstdint>
#include <string>

namespace ns3::gradsync
{

class PlanExecution;

/// Is told how a PlanExecution goes on. May start any execution from each of these calls.
class PlanListener
{
  public:
    /// Its own part is done. Only where PlanExecution::Setup::tellsRanks asks for it.
    virtual void OnRankEnded(PlanExecution& /* execution */, uint32_t /* rank */)
    {
    }

    /// All is done. The last call; the execution may be destroyed in it.
    virtual void OnEnded(PlanExecution& execution) = 0;

    /// An operation is done that the gate counts. Only where PlanExecution::Setup::hasGate asks for
    /// it.
    virtual void OnAnswer(PlanExecution& /* execution */)
    {
    }

    /// \param bytes that it moved
    virtual void OnTransferDelivered(PlanExecution& /* execution */,
                                     OperationId /* id */,
                                     uint64_t /* bytes */)
    {
    }

    /// A rank has computed for an operation, or added what it received by it; it took time.
    virtual void OnWorked(PlanExecution& /* execution */, OperationId /* id */)
    {
    }

    /// \param rank of the job
    virtual void OnRankTrained(PlanExecution& /* execution */,
                               uint32_t /* rank */,
                               const Time& /* since */)
    {
    }

    /// The transport gave up a transfer.
    virtual void OnTransferFailed(PlanExecution& execution,
                                  OperationId id,
                                  const std::string& reason) = 0;
    /// The network gave a wrong sum.
    virtual void OnSumWrong(PlanExecution& execution,
                            OperationId id,
                            const std::string& reason) = 0;

  protected:
    ~PlanListener() = default;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_LISTENER_H
