// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CONTEXT_RING_H
#define GRADSYNC_CONTEXT_RING_H

#include "ns3/training-meeting.h"
#include "ns3/workload-builder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * Writes down what one context-parallel rank does of attention whose keys and values go round a
 * ring (Liu et al., "Ring Attention with Blockwise Transformers", ICLR'24): of n ranks each attends
 * to its own block first, while the block of the rank before it arrives, and so on, n pieces of
 * computation and n - 1 shifts. When a piece begins, the block that it needed goes on.
 *
 * On the way back gradients of a block's keys and values go round behind it: the rank that attended
 * to it first but its own adds to them, then the next one, and the last one sends them home, n - 1
 * shifts. So gathering moves as many bytes; what is not hidden is the last of these shifts.
 */
class ContextRing
{
  public:
    /// Of a microbatch, or of a slice of it.
    struct Pass
    {
        uint64_t bytes;       //!< of a rank's keys and values, at least 1
        uint64_t picoseconds; //!< of attention to all blocks
        bool isBackward;
        std::string label;
    };

    /// What comes next waits for both.
    struct End
    {
        TaskId computed;
        std::optional<TaskId> returned; //!< the rank's own gradients
    };

    /// \param ranks of the ring, in its order; at least 2
    ContextRing(const std::vector<uint32_t>& ranks,
                WorkloadBuilder& builder,
                TrainingMeeting& meeting,
                uint32_t rank);

    /// \param after what the first piece and the first shift wait for
    End Write(const Pass& pass, const std::vector<TaskId>& after);

  private:
    TaskId Shift(const Pass& pass, const std::vector<TaskId>& after);

    const std::vector<uint32_t>& m_ranks;
    WorkloadBuilder& m_builder;
    TrainingMeeting& m_meeting;
    uint32_t m_rank;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_CONTEXT_RING_H
