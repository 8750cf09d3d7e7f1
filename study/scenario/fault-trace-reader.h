// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FAULT_TRACE_READER_H
#define GRADSYNC_FAULT_TRACE_READER_H

#include "ns3/json-document.h"
#include "ns3/json-value.h"
#include "ns3/named-files.h"
#include "ns3/topology.h"

#include <string>

namespace ns3::gradsync
{

/**
 * Puts the rows of every fault trace, `{"file": "faults.csv"}` in the list `faults`, beside its
 * name as `rows`: a scenario with its traces in place is all that a run depends on.
 *
 * The first line names the columns: `time`, `kind` and `target`, and any of `duration` and the keys
 * of the kinds. A row is an object of these, empty fields left out, with its `line`.
 * \throws ScenarioError that names file and line
 */
void InlineFaultTraces(Json& document, const std::string& scenarioFile, NamedFiles& files);

/**
 * A row as an entry of the list `faults`: its `target`, named as in faults.csv, becomes `hosts`,
 * `links` or `switches`.
 * \throws ScenarioError for a target that the network does not have
 */
Json MakeFaultOfRow(const JsonValue& row, const Topology& topology);

} // namespace ns3::gradsync

#endif // GRADSYNC_FAULT_TRACE_READER_H
