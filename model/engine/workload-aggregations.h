// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WORKLOAD_AGGREGATIONS_H
#define GRADSYNC_WORKLOAD_AGGREGATIONS_H

#include "ns3/plan-aggregations.h"
#include "ns3/workload-channels.h"
#include "ns3/workload.h"

#include <cstdint>
#include <map>
#include <span>

namespace ns3::gradsync
{

/**
 * The groups of a transport that aggregate for the communications of a workload: those of one group
 * of ranks on one stream have them in common, as they have connections, and take turns as they
 * begin; others have their own, and their own room in switches.
 */
class WorkloadAggregations
{
  public:
    /**
     * \param endpoints [rank of the workload]
     * \throws std::runtime_error with a text for the user when the network cannot,
     * AggregationDenied when it has no room now; then none are open
     */
    void Open(const Workload& workload,
              std::span<const uint32_t> endpoints,
              const Ptr<Transport>& transport);

    /// With all that is under way. Nothing is closed by destruction: networks may go first.
    void Close();

    /// A communication begins. \param workload open, if it has aggregations
    AggregationTurn TakeTurn(const Workload& workload, CommunicationId id);

    /// Whether a group of the transport is one of these.
    bool Contains(uint32_t group) const;

    bool IsEmpty() const
    {
        return m_channels.empty();
    }

  private:
    std::map<WorkloadChannel, PlanAggregations> m_channels;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_WORKLOAD_AGGREGATIONS_H
