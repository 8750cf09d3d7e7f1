// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCHEME_READER_H
#define GRADSYNC_SCHEME_READER_H

#include "ns3/json-value.h"
#include "ns3/scheme-choice.h"

#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// Names of all schemes, `auto` and `import` too.
std::vector<std::string> GetSchemeNames();

/**
 * Writes beside the file of every scheme `import` what its content hashes to, so that a run is
 * another one when the file is, and how many dedicated servers it has, where the scenario does not.
 * \throws ScenarioError for a file that cannot be read, or another digest
 */
void StampImports(Json& document, const std::string& scenarioFile);

/// Keys that the scheme of that name knows in a scenario (`kind` and its parameters); empty if
/// there is none.
std::vector<std::string> GetSchemeKeys(std::string_view name);

/**
 * Reads `{"kind": "ring", ...}` against the ParameterSpecs that the scheme declares.
 * \throws ScenarioError
 */
SchemeChoice ReadScheme(const JsonValue& value);

/// A parameter's value as `list` and messages show it.
std::string ShowParameter(const ParameterValue& value);

} // namespace ns3::gradsync

#endif // GRADSYNC_SCHEME_READER_H
