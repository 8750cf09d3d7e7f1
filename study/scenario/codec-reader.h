// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CODEC_READER_H
#define GRADSYNC_CODEC_READER_H

#include "ns3/codec-profile.h"
#include "ns3/json-value.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3::gradsync
{

std::vector<std::string> GetCodecNames();

/// Keys of a codec: `kind` and its parameters; empty when there is no such codec.
std::vector<std::string> GetCodecKeys(const std::string& name);

/// Reads a job's `codec`. \throws ScenarioError
CodecSpec ReadCodec(const JsonValue& value);

/// Reads `between` of a job's codec; "all" without. \throws ScenarioError
std::string ReadCodecScope(const JsonValue& value);

/// Reads a job's `profile`, which InlineProfiles has put in place. \throws ScenarioError
std::shared_ptr<const CodecProfile> ReadProfile(const JsonValue& value);

/**
 * Puts the content of every job's profile file, and of the file that its codec's density names, in
 * the place of its name, which is relative to the scenario's folder. \throws ScenarioError
 */
void InlineProfiles(Json& document, const std::string& scenarioFile);

} // namespace ns3::gradsync

#endif // GRADSYNC_CODEC_READER_H
