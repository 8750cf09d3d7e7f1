// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MODEL_READER_H
#define GRADSYNC_MODEL_READER_H

#include "ns3/device-profile.h"
#include "ns3/json-value.h"
#include "ns3/model-spec.h"
#include "ns3/named-files.h"
#include "ns3/parameter-spec.h"

#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What models of each kind know, and the file that they may be in.
std::span<const KindSpec> GetModelKinds();

/// \throws ScenarioError
ModelSpec ReadModel(const JsonValue& value);

/// What a device knows, and the file that it may be in.
ParameterSpec MakeDeviceSpec();

/// \throws ScenarioError
DeviceProfile ReadDevice(const JsonValue& value);

/// `model` and `device` of `training`, `device` of `trace`, of all jobs: where their content may be
/// in a file.
std::vector<std::string> ListTrainingFiles(const Json& document);

/// Puts the content of model and device files in the place of their names. \throws ScenarioError
void InlineTrainingFiles(Json& document, const std::string& scenarioFile, NamedFiles& files);

} // namespace ns3::gradsync

#endif // GRADSYNC_MODEL_READER_H
