// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_SECTION_H
#define GRADSYNC_TRAINING_SECTION_H

#include "ns3/parameter-spec.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What `training` of a job knows.
const std::vector<ParameterSpec>& GetTrainingParameters();

/// What goes with `model` of it alone, beside that.
const std::vector<std::string>& GetModelKeys();

/// What a rule of its `codecs` knows.
const std::vector<ParameterSpec>& GetCodecRuleParameters();

/// What a block of its model knows.
const std::vector<ParameterSpec>& GetBlockParameters();

/// Blocks of a model, all of `count` counted.
inline constexpr uint64_t MAX_BLOCKS = 100'000;

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_SECTION_H
