// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AICB_PROGRAM_H
#define GRADSYNC_AICB_PROGRAM_H

#include "ns3/aicb-workload.h"
#include "ns3/rank-layout.h"
#include "ns3/trace-program-builder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Writes what a rank does with the layers of a workload, one thing after the other.
class AicbProgram
{
  public:
    explicit AicbProgram(const std::string& file);

    /// Layers from the first to the last.
    void Forward(const std::vector<AicbLayer>& layers);

    /// Layers from the last to the first; collectives of the weights' gradients hold up nothing.
    void Backward(const std::vector<AicbLayer>& layers);

    /// Goes on at once. \param distance of the peer
    void Send(int32_t distance, int64_t tag, uint64_t bytes);

    /// What follows waits for it.
    void Receive(int32_t distance, int64_t tag, uint64_t bytes);

    /// A collective that what follows waits for.
    void Collect(const AicbPhase& phase, const std::string& name);

    /// Once forth and back.
    TraceProgram MakeWhole(const std::vector<AicbLayer>& layers);

    TraceProgram Finish();

  private:
    uint64_t Add(const std::string& name,
                 const TraceNode& node,
                 const std::vector<uint64_t>& dependencies);
    void Compute(uint64_t nanoseconds, const std::string& name);
    TraceNode MakeCollective(const AicbPhase& phase);
    void Message(TraceAction action, int32_t distance, int64_t tag, uint64_t bytes);

    TraceProgramBuilder m_builder;
    std::vector<uint64_t> m_last; //!< what comes next waits for these
};

/// Names the groups of tensor-, data-, pipeline- and expert-parallel ranks: tp, dp, pp, ep, dp_ep.
void AddParallelGroups(const ParallelDegrees& degrees, TraceSet& set);

/// \throws ImportError for a trace with too many nodes \param nodes of all ranks
void CheckTraceSize(const std::string& file, uint64_t nodes);

} // namespace ns3::gradsync

#endif // GRADSYNC_AICB_PROGRAM_H
