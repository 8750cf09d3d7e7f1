// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ASYNCHRONOUS_RESULT_H
#define GRADSYNC_ASYNCHRONOUS_RESULT_H

#include "ns3/asynchronous-job.h"
#include "ns3/update-sample.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// What a worker of an asynchronous job did.
struct WorkerTotals
{
    uint64_t steps{0};
    uint64_t updates{0}; //!< that all servers have applied
    uint64_t fetches{0};
    uint64_t requests{0};     //!< of these, asked for by no push
    uint64_t stalenessSum{0}; //!< of all updates
    uint32_t mostStaleness{0};
    uint32_t mostAhead{0};
    Time time;    //!< of its steps, from the beginnings of stages on
    Time compute; //!< of that
    Time held;    //!< of that, servers held its fetches for the bound
};

/**
 * An asynchronous job, and what it did.
 *
 * Its rate is that of steps as long as all workers of a stage are at work: until the first one has
 * done its last step of the stage, or the run ends. Afterwards those that are left have the
 * servers for themselves, for a time that depends on how many steps there are.
 */
struct AsynchronousResult
{
    uint32_t job;
    AsynchronousJob spec;
    std::vector<WorkerTotals> workers;
    UpdateSample updates{};
    uint64_t fullSteps{0}; //!< of all workers, in such times
    Time fullTime{};       //!< these together
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ASYNCHRONOUS_RESULT_H
