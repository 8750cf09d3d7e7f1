// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_JOB_READER_H
#define GRADSYNC_JOB_READER_H

#include "ns3/json-value.h"
#include "ns3/scenario.h"
#include "ns3/topology.h"

#include <vector>

namespace ns3::gradsync
{

/**
 * Reads `job`, `jobs` or, when there is neither, one job with all defaults.
 * \param root the whole scenario: its `scheme` is that of the jobs that give none
 * \throws ScenarioError
 */
std::vector<JobSpec> ReadJobs(const JsonValue& root, const Topology& topology);

} // namespace ns3::gradsync

#endif // GRADSYNC_JOB_READER_H
