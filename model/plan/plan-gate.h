// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_GATE_H
#define GRADSYNC_PLAN_GATE_H

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * The point of a plan that does not wait for everybody. It opens when `quorum` answers are there,
 * or after `timeout` with those that are there then, at least one.
 *
 * What an answer that came too late would have been part of is left out of the exchange, see
 * MakePlanPart. What follows the gate is the model that was made of the answers: codecs of
 * gradients leave it as it is.
 */
struct PlanGate
{
    /// What a worker contributes.
    struct Answer
    {
        uint32_t operation; //!< that ends it, before the gate
        uint32_t worker;
    };

    uint32_t operation{0};          //!< of kind Gate
    uint32_t quorum{0};             //!< answers that are enough
    uint64_t timeoutPicoseconds{0}; //!< from the beginning of the exchange
    std::vector<Answer> answers;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_GATE_H
