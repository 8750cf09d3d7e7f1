// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SURVIVOR_PLANNER_H
#define GRADSYNC_SURVIVOR_PLANNER_H

#include "ns3/job-spec.h"
#include "ns3/plan.h"
#include "ns3/topology.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace ns3::gradsync
{

/**
 * Makes a plan of the same scheme for the ranks that are left, and verifies it. Dedicated servers
 * that are gone leave their share to the others.
 * \param ranks of the job, ascending. \param bytes of the gradient that are still to be exchanged;
 * nothing: all of it
 * \throws PlanningError when the scheme cannot run on them
 */
std::shared_ptr<const Plan> PlanSurvivors(const JobSpec& job,
                                          const Topology& topology,
                                          std::span<const uint32_t> ranks,
                                          std::optional<uint64_t> bytes);

/// Whether the job has a way to exchange without switches that aggregate.
bool HasFallback(const JobSpec& job);

/**
 * Makes a plan of the scheme by which workers do without switches that aggregate, and verifies it.
 * \param ranks workers of the job, ascending. \param bytes as of PlanSurvivors
 * \throws PlanningError when the scheme cannot run on them
 */
std::shared_ptr<const Plan> PlanFallback(const JobSpec& job,
                                         const Topology& topology,
                                         std::span<const uint32_t> ranks,
                                         std::optional<uint64_t> bytes);

} // namespace ns3::gradsync

#endif // GRADSYNC_SURVIVOR_PLANNER_H
