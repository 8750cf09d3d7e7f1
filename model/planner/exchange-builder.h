// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EXCHANGE_BUILDER_H
#define GRADSYNC_EXCHANGE_BUILDER_H

#include "ns3/job-spec.h"
#include "ns3/plan.h"
#include "ns3/scheme.h"
#include "ns3/worker-groups.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * What a scheme makes of a request of the job, each tensor with its codec, all with the job's
 * protocol.
 * \param rankGroups of all ranks
 * \param serverOf [rank] -> the server that it stands in
 * \throws SchemeError when the scheme cannot do it, or the codec does not go with it
 * \throws PlanningError for a level of the topology that the job names and that is not there
 */
Plan BuildExchange(const JobSpec& job,
                   const Scheme& scheme,
                   const SchemeRequest& request,
                   const WorkerGroups& rankGroups,
                   const std::vector<uint32_t>& serverOf);

} // namespace ns3::gradsync

#endif // GRADSYNC_EXCHANGE_BUILDER_H
