// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MODEL_KINDS_H
#define GRADSYNC_MODEL_KINDS_H

#include "ns3/device-profile.h"
#include "ns3/model-spec.h"
#include "ns3/parameter-spec.h"

#include <span>
#include <vector>

namespace ns3::gradsync
{

/// A form in which files and scenarios describe models.
struct ModelKind
{
    KindSpec spec;
    /// Without the name. \throws ParameterError, or WorkloadError with a text for the user
    ModelSpec (*make)(const ParameterSet& parameters);
};

/// All of them, sorted by name: cnn, table, transformer.
std::span<const ModelKind> GetModels();

/**
 * A model of that kind, by the parameters that it knows.
 * \throws ParameterError, or WorkloadError, with a text for the user
 */
ModelSpec MakeModel(const ModelKind& kind, const ParameterSet& parameters);

/// What is declared of a device.
const std::vector<ParameterSpec>& GetDeviceParameters();

/// \throws ParameterError
DeviceProfile MakeDevice(const ParameterSet& parameters);

} // namespace ns3::gradsync

#endif // GRADSYNC_MODEL_KINDS_H
