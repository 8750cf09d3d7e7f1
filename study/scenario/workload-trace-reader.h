// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WORKLOAD_TRACE_READER_H
#define GRADSYNC_WORKLOAD_TRACE_READER_H

#include "ns3/json-value.h"
#include "ns3/named-files.h"
#include "ns3/training-job-spec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * Reads `trace` of a job, and its files.
 * \param scheme of the job, if it has one \param endpoints that it may use
 * \throws ScenarioError, also for a trace that cannot be simulated as it is
 */
TrainingJobSpec ReadWorkloadTrace(const JsonValue& trace,
                                  const std::optional<JsonValue>& scheme,
                                  std::vector<uint32_t> endpoints,
                                  NamedFiles& files);

/// Writes into a document what the files of its traces hash to, so that runs are known by them.
/// \throws ScenarioError where a digest is given and differs
void StampWorkloadTraces(Json& document, const std::string& scenarioFile, NamedFiles& files);

} // namespace ns3::gradsync

#endif // GRADSYNC_WORKLOAD_TRACE_READER_H
