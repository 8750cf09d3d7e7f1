// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WORKLOAD_PARTS_H
#define GRADSYNC_WORKLOAD_PARTS_H

#include "ns3/distant-ends.h"
#include "ns3/workload.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

class RankShare;

/**
 * How several processes share the ranks of a workload, and what they tell each other of its
 * communications.
 *
 * A rank waits for others by communications only, and ends its part of one when its own operations
 * are done and what it has sent is delivered. So senders are told of what is delivered, always.
 */
class WorkloadParts
{
  public:
    /// \param workload outlives this \param partOf [rank] -> process
    /// \param reduceSecondsPerByte of the job
    WorkloadParts(const Workload& workload,
                  std::vector<uint32_t> partOf,
                  double reduceSecondsPerByte);

    uint32_t GetPart(uint32_t rank) const
    {
        return m_partOf[rank];
    }

    /// Whether ranks of several processes take part in a communication.
    bool IsDivided(CommunicationId id) const;

    /// Of such a communication: made when first asked for, once for all that are alike.
    const DistantEnds& GetEnds(CommunicationId id);

    /// A communication of several processes that begins when it is ready at all its ranks, which
    /// these cannot know at once.
    std::optional<CommunicationId> FindAgreed() const;

  private:
    /// [member] -> process.
    std::vector<uint32_t> GetParts(CommunicationId id) const;

    const Workload& m_workload;
    std::vector<uint32_t> m_partOf;
    double m_reduceSecondsPerByte;
    std::map<std::pair<const Plan*, std::vector<uint32_t>>, std::unique_ptr<DistantEnds>> m_ends;
};

/// What of a workload a process simulates, among several. Both outlive whoever has it.
struct WorkloadShare
{
    RankShare* share;
    WorkloadParts* parts;
    uint32_t job; //!< index in the engine
    uint32_t run; //!< of the workload: the how many-th
};

} // namespace ns3::gradsync

#endif // GRADSYNC_WORKLOAD_PARTS_H
