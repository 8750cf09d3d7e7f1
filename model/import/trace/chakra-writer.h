// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CHAKRA_WRITER_H
#define GRADSYNC_CHAKRA_WRITER_H

#include "ns3/chakra-steps.h"
#include "ns3/plan.h"

#include <cstdint>
#include <ostream>
#include <vector>

namespace ns3::gradsync
{

/**
 * Writes a plan as Chakra execution traces, one of each rank, as ASTRA-sim runs them: every
 * transfer is a COMM_SEND_NODE at one rank and a COMM_RECV_NODE at another, with a tag of their
 * own, all else a COMP_NODE; edges are data dependencies.
 *
 * A dependency of Chakra stays inside a rank, as one of GOAL does (GoalWriter): what starts at the
 * receiver of a transfer waits for the receive, what starts at the sender only for the send. Where
 * an operation waits for one of other ranks, a message of one byte tells it.
 */
class ChakraWriter
{
  public:
    /// \throws std::invalid_argument for a plan that Chakra cannot say: the network aggregates, it
    /// has a gate or trains, or computes for other times than whole microseconds, or on several
    /// processors of a rank
    explicit ChakraWriter(const Plan& plan);

    uint32_t GetRankCount() const
    {
        return static_cast<uint32_t>(m_steps.size());
    }

    /// Messages of one byte that are in no plan.
    uint32_t GetSignalCount() const
    {
        return m_signalCount;
    }

    /// The trace of a rank, in the binary form.
    void Write(uint32_t rank, std::ostream& stream) const;

  private:
    void AddOperation(OperationId id);
    void AddDependency(OperationId earlier, OperationId later);
    uint64_t GetMicroseconds(OperationId id) const;
    ChakraStep& GetStart(OperationId id);
    /// Id of the node at `rank` that ends when the operation does, as far as that rank knows.
    uint64_t GetEnd(OperationId id, uint32_t rank) const;
    /// \returns its id, which is its place in the rank's list
    uint64_t AddStep(uint32_t rank, ChakraStep step);

    const Plan& m_plan;
    uint32_t m_signalCount{0};
    std::vector<std::vector<ChakraStep>> m_steps; //!< [rank]
    std::vector<uint32_t> m_starts;               //!< [operation] its step at the source
    std::vector<uint32_t> m_receives; //!< [operation] of transfers: its step at the receiver
};

} // namespace ns3::gradsync

#endif // GRADSYNC_CHAKRA_WRITER_H
