// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_PROGRAM_READER_H
#define GRADSYNC_P4_PROGRAM_READER_H

#include "ns3/json-document.h"
#include "ns3/json-value.h"
#include "ns3/named-files.h"
#include "ns3/p4-switch-program.h"
#include "ns3/parameter-spec.h"
#include "ns3/topology.h"

#include <map>
#include <string>

namespace ns3::gradsync
{

/**
 * Puts a hash of each P4 program and its configuration beside their names, as `digest`, so that
 * results tell which they were made with. \throws ScenarioError when a file cannot be read, or has
 * another hash than the one that is there already
 */
void StampPrograms(Json& document, const std::string& scenarioFile, NamedFiles& files);

/// The list transport.aggregation.programs.
ParameterSpec DescribePrograms();

/**
 * Reads `[{"switches": ["leaf0"], "program": "p.json", "configuration": "p.cli"}, ...]`, the list
 * transport.aggregation.programs. \throws ScenarioError
 */
std::map<NodeId, P4SwitchProgram> ReadPrograms(const JsonValue& list,
                                               const Topology& topology,
                                               NamedFiles& files);

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_PROGRAM_READER_H
