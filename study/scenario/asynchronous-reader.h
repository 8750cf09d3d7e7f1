// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ASYNCHRONOUS_READER_H
#define GRADSYNC_ASYNCHRONOUS_READER_H

#include "ns3/asynchronous-job-spec.h"
#include "ns3/job-spec.h"
#include "ns3/json-value.h"
#include "ns3/topology.h"

#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What a job with `asynchronous` does not have.
const std::vector<std::string>& GetKeysWithoutAsynchronous();

/**
 * Reads a job that has `asynchronous`.
 * \param common what needs neither the network nor another file
 * \throws ScenarioError
 */
AsynchronousJobSpec ReadAsynchronous(const JsonValue& value,
                                     const JobSpec& common,
                                     const Topology& topology);

} // namespace ns3::gradsync

#endif // GRADSYNC_ASYNCHRONOUS_READER_H
