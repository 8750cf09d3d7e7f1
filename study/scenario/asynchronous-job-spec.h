// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ASYNCHRONOUS_JOB_SPEC_H
#define GRADSYNC_ASYNCHRONOUS_JOB_SPEC_H

#include "ns3/asynchronous-job.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <optional>

namespace ns3::gradsync
{

/// An asynchronous job, without what depends on the rest of its run.
struct AsynchronousJobSpec
{
    AsynchronousJob job;                //!< without timeout and the time to add
    std::optional<DataRate> reduceRate; //!< none: adding costs no time
    std::optional<Time> timeout;        //!< of an iteration; 0: no limit
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ASYNCHRONOUS_JOB_SPEC_H
