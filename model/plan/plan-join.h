// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_JOIN_H
#define GRADSYNC_PLAN_JOIN_H

#include "ns3/plan.h"

#include <cstdint>
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

/// What each worker computes before a part of a chain, or after the last one.
struct ChainStep
{
    OperationKind kind; //!< Encode or Decode
    uint64_t picoseconds;
};

/**
 * One plan that does several one after the other: a worker sends nothing of a part before it has
 * all of the part before, and has done the step between them.
 *
 * \param parts as of JoinPlans, without groups of the network
 * \param steps one more than parts
 * \param gradientBytes what the parts' messages stand for, at least the bytes of them: chunks are
 * shares of it, messages have the bytes of the parts
 * \throws std::invalid_argument as JoinPlans, and for other numbers of steps and bytes
 */
Plan ChainPlans(std::span<const std::shared_ptr<const Plan>> parts,
                std::span<const ChainStep> steps,
                uint64_t gradientBytes);

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_JOIN_H
