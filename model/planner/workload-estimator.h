// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WORKLOAD_ESTIMATOR_H
#define GRADSYNC_WORKLOAD_ESTIMATOR_H

#include "ns3/network-model.h"
#include "ns3/plan-estimator.h"
#include "ns3/topology.h"
#include "ns3/workload.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * How long a workload takes, without simulating it: each communication takes what PlanEstimator
 * says of its plan on an idle network, from when the last of its ranks comes to it, and for all of
 * them. So communications that are under way at once do not slow each other, and no rank ends its
 * part early. Streams do as they do in a run, with one communication at a time.
 */
class WorkloadEstimator
{
  public:
    /// \param topology must outlive the estimator
    WorkloadEstimator(const Topology& topology, const NetworkModel& model);

    /// \param endpointOf [rank] \param reduceSecondsPerByte as of Job \returns seconds
    double Estimate(const Workload& workload,
                    std::span<const uint32_t> endpointOf,
                    double reduceSecondsPerByte);

  private:
    /// A plan, and where it runs.
    using Place = std::pair<std::shared_ptr<const Plan>, std::vector<uint32_t>>;

    uint64_t GetPicoseconds(const Place& place, double reduceSecondsPerByte);

    PlanEstimator m_estimator;
    std::map<Place, uint64_t> m_known;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_WORKLOAD_ESTIMATOR_H
