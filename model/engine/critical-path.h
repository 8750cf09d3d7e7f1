// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CRITICAL_PATH_H
#define GRADSYNC_CRITICAL_PATH_H

#include "ns3/nstime.h"
#include "ns3/task-log.h"
#include "ns3/workload.h"

#include <vector>

namespace ns3::gradsync
{

/// A part of the critical path.
struct CriticalStep
{
    TaskId task; //!< of a communication: of the rank that came to it last
    Time begin;
    Time end;
};

/**
 * What the end of a workload waited for: computations and communications without a gap, from the
 * first that began to the last that ended. A collective begins for it when the last of its ranks
 * comes to it, a message when its sender does.
 * \param log of a workload that has ended
 */
std::vector<CriticalStep> FindCriticalPath(const Workload& workload, const TaskLog& log);

} // namespace ns3::gradsync

#endif // GRADSYNC_CRITICAL_PATH_H
