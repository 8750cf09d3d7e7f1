// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RUN_LIMITS_H
#define GRADSYNC_RUN_LIMITS_H

#include "ns3/nstime.h"
#include "ns3/scenario.h"

namespace ns3::gradsync
{

/**
 * Refuses faults and foreign flows of which there are so many that the run would never end
 * (MAX_FAULT_BEGINNINGS, MAX_FLOWS), and says whose interval it is.
 * \param least a time that the jobs take at least while all ranks take part. \throws ScenarioError
 */
void CheckLimits(const ResolvedRun& run, const Time& least);

} // namespace ns3::gradsync

#endif // GRADSYNC_RUN_LIMITS_H
