// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CHAKRA_STEPS_H
#define GRADSYNC_CHAKRA_STEPS_H

#include "ns3/plan.h"
#include "ns3/trace-program.h"

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What becomes a node of a Chakra trace; its id is its place among those of its rank.
struct ChakraStep
{
    TraceAction action{TraceAction::Compute}; //!< Compute, Send, Receive or Collective
    std::string name;
    uint64_t amount{0}; //!< of what computes microseconds, else bytes as comm_size has them
    uint32_t peer{0};   //!< of messages
    uint32_t tag{0};    //!< of messages
    TraceCollective collective{TraceCollective::AllReduce};
    std::string group{}; //!< pg_name
    std::vector<uint64_t> dependencies{};
};

/// Writes the trace of a rank, in the binary form (chakra-trace.proto).
void WriteChakraSteps(uint32_t rank, std::span<const ChakraStep> steps, std::ostream& stream);

/**
 * Whole microseconds, Chakra's unit.
 * \param what is computed, for the message \throws std::invalid_argument
 */
uint64_t ToChakraMicroseconds(uint64_t picoseconds, const std::string& what);

/// \throws std::invalid_argument for a plan whose messages Chakra cannot say: the network
/// aggregates, it has a gate, or a protocol
void CheckChakraMessages(const Plan& plan);

} // namespace ns3::gradsync

#endif // GRADSYNC_CHAKRA_STEPS_H
