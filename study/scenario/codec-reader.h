// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CODEC_READER_H
#define GRADSYNC_CODEC_READER_H

#include "ns3/codec-profile.h"
#include "ns3/job-spec.h"
#include "ns3/json-value.h"
#include "ns3/named-files.h"
#include "ns3/parameter-spec.h"

#include <memory>
#include <span>
#include <string>

namespace ns3::gradsync
{

/// All codecs.
std::span<const KindSpec> GetCodecKinds();

/// Reads a codec with its parameters. \throws ScenarioError
CodecSpec ReadCodec(const JsonValue& value);

/// Reads the `codec` of a job or tensor, with `between` and `elsewhere`. \throws ScenarioError
CodecChoice ReadCodecChoice(const JsonValue& value);

/// Reads a job's `profile`, which InlineProfiles has put in place. \throws ScenarioError
std::shared_ptr<const CodecProfile> ReadProfile(const JsonValue& value);

/**
 * Puts the content of every job's profile file, and of the file that its codec's density names, in
 * the place of its name, which is relative to the scenario's folder. \throws ScenarioError
 */
void InlineProfiles(Json& document, const std::string& scenarioFile, NamedFiles& files);

} // namespace ns3::gradsync

#endif // GRADSYNC_CODEC_READER_H
