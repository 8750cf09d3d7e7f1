// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MODEL_TRAINING_READER_H
#define GRADSYNC_MODEL_TRAINING_READER_H

#include "ns3/json-value.h"
#include "ns3/parameter-spec.h"
#include "ns3/training-job-spec.h"

namespace ns3::gradsync
{

/**
 * Reads `training` that has a `model` and a `device`.
 * \param parameters of `training`
 * \param spec with what does not depend on that: degrees, pipeline, schemes of gradients, buckets
 * \returns the job but for its endpoints, with the figures of its iterations
 * \throws ScenarioError, also for a plan that does not fit in the device's memory
 */
TrainingJobSpec ReadModelTraining(const JsonValue& training,
                                  const ParameterSet& parameters,
                                  const TrainingSpec& spec);

} // namespace ns3::gradsync

#endif // GRADSYNC_MODEL_TRAINING_READER_H
