// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCHEME_READER_H
#define GRADSYNC_SCHEME_READER_H

#include "ns3/json-value.h"
#include "ns3/named-files.h"
#include "ns3/parameter-spec.h"
#include "ns3/scheme-choice.h"

#include <span>
#include <string>

namespace ns3::gradsync
{

/// All schemes as kinds, `auto` and `import` first.
std::span<const KindSpec> GetSchemeKinds();

/**
 * Writes beside the file of every scheme `import` what its content hashes to, so that a run is
 * another one when the file is, and how many dedicated servers it has, where the scenario does not.
 * \throws ScenarioError for a file that cannot be read, or another digest
 */
void StampImports(Json& document, const std::string& scenarioFile, NamedFiles& files);

/**
 * Reads `{"kind": "ring", ...}` against the ParameterSpecs that the scheme declares.
 * \throws ScenarioError
 */
SchemeChoice ReadScheme(const JsonValue& value);

/// Gives a scheme what is in the files that its parameters name. \throws ImportError
void ReadSchemeFiles(SchemeChoice& choice, NamedFiles& files);

} // namespace ns3::gradsync

#endif // GRADSYNC_SCHEME_READER_H
