// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_LOCK_STEP_H
#define GRADSYNC_LOCK_STEP_H

#include "ns3/plan-builder.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * Adds copies in steps: what a rank sends in a step waits for all that it sent and received in the
 * steps before. Every rank goes at its own pace; there is no barrier.
 */
class LockStep
{
  public:
    /// \param ranks that send and receive; the builder must outlive this
    LockStep(PlanBuilder& builder, uint32_t ranks);

    /// What is added from now on belongs to the next step.
    void Begin();

    void AddCopy(uint32_t src, uint32_t dst, uint32_t firstChunk, uint32_t chunkCount);

  private:
    PlanBuilder& m_builder;
    uint32_t m_step{0};                //!< the one in hand, from 1
    std::vector<OperationId> m_before; //!< [rank]: done when it is through with the step before
    std::vector<OperationId> m_joins;  //!< [rank]: of the step in hand
};

} // namespace ns3::gradsync

#endif // GRADSYNC_LOCK_STEP_H
