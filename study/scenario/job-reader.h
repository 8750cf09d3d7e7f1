// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_JOB_READER_H
#define GRADSYNC_JOB_READER_H

#include "ns3/asynchronous-job-spec.h"
#include "ns3/json-value.h"
#include "ns3/named-files.h"
#include "ns3/scenario.h"
#include "ns3/topology.h"
#include "ns3/training-job-spec.h"

#include <vector>

namespace ns3::gradsync
{

/// The jobs of a scenario by what they do, each in their order.
struct JobList
{
    std::vector<JobSpec> exchanges;
    std::vector<TrainingJobSpec> trainings;
    std::vector<AsynchronousJobSpec> asynchronous;
};

/**
 * Reads `job`, `jobs` or, when there is neither, one job with all defaults.
 * \param root the whole scenario: its `scheme` is that of the jobs that give none
 * \param files of the scenario: of its traces
 * \throws ScenarioError
 */
JobList ReadJobs(const JsonValue& root, const Topology& topology, NamedFiles& files);

} // namespace ns3::gradsync

#endif // GRADSYNC_JOB_READER_H
