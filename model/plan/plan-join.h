// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_JOIN_H
#define GRADSYNC_PLAN_JOIN_H

#include "ns3/plan.h"

#include <memory>
#include <span>

namespace ns3::gradsync
{

/**
 * One plan that does several at once: the buffers stand one after the other, no operation of one
 * part waits for another part. What becomes ready at the same time starts in the order of the
 * parts, and on a connection that parts share their messages follow each other.
 *
 * \param parts all-reduces of the same ranks, at least one, without a gate and without Train; one
 * plan may stand for several parts
 * \throws std::invalid_argument for others, and when the network adds up by several protocols, or
 * shares exponents in some parts only
 */
Plan JoinPlans(std::span<const std::shared_ptr<const Plan>> parts);

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_JOIN_H
