// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_READER_H
#define GRADSYNC_TRAINING_READER_H

#include "ns3/json-value.h"
#include "ns3/training-job-spec.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/// What a job has `training` in place of.
const std::vector<std::string>& GetKeysWithoutTraining();

/**
 * Reads `training` of a job.
 * \param scheme of the job, or at the top
 * \param endpoints on which ranks may stand, in their order; those that are needed are taken
 * \throws ScenarioError
 */
TrainingJobSpec ReadTraining(const JsonValue& training,
                             const std::optional<JsonValue>& scheme,
                             std::vector<uint32_t> endpoints);

/**
 * Reads which gradients of a job are compressed: `training.codecs`, then `codec` for all others,
 * with the times of `profile`.
 * \param job with `training` \param spec what was read of that \throws ScenarioError
 */
std::vector<GradientCodecRule> ReadGradientCodecs(const JsonValue& job,
                                                  const TrainingJobSpec& spec);

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_READER_H
