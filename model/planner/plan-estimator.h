// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_ESTIMATOR_H
#define GRADSYNC_PLAN_ESTIMATOR_H

#include "ns3/aggregation-load.h"
#include "ns3/aggregation-pace.h"
#include "ns3/network-model.h"
#include "ns3/path-catalogue.h"
#include "ns3/plan.h"
#include "ns3/routing-tables.h"
#include "ns3/topology.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// A plan and where it runs.
struct PlacedPlan
{
    const Plan& plan;
    std::span<const uint32_t> endpointOf; //!< [rank] -> endpoint
    double reduceSecondsPerByte{0.0};     //!< as of Job
    /// Of each group that the network aggregates for.
    std::span<const AggregationLoad> loads{};

    /// What the protocol of the plan takes after a transfer.
    double GetHopSeconds(OperationId id) const
    {
        return static_cast<double>(plan.GetHopPicoseconds(plan.GetOperations()[id])) * 1e-12;
    }

    /// What it takes before the first one.
    double GetBaseSeconds() const
    {
        return static_cast<double>(plan.GetProtocol().basePicoseconds) * 1e-12;
    }

    /// What an operation takes at a rank, apart from the network.
    double GetWorkSeconds(OperationId id) const
    {
        const auto& operation = plan.GetOperations()[id];
        return operation.IsCompute() ? static_cast<double>(plan.GetComputePicoseconds(id)) * 1e-12
               : operation.kind == OperationKind::TransferReduce
                   ? reduceSecondsPerByte * static_cast<double>(plan.GetBytes(id))
                   : 0.0;
    }
};

/**
 * How long a plan takes on a network that is otherwise idle, without simulating it: a pure function
 * of topology, packets and plan. doc/auto.rst derives both figures.
 */
class PlanEstimator
{
  public:
    /// \param topology must outlive the estimator
    PlanEstimator(const Topology& topology, const NetworkModel& model);

    /**
     * No packet-level run takes less: the most loaded link, or the longest chain of transfers with
     * the network to each of them alone. Linear in operations. In seconds.
     */
    double GetLowerBound(const PlacedPlan& placed);

    /**
     * The plan on max-min fair rates, with the headers and the latency of packets, in seconds.
     * \returns nothing when it takes `limit` seconds or more
     */
    std::optional<double> Estimate(const PlacedPlan& placed,
                                   double limit = std::numeric_limits<double>::infinity());

  private:
    uint32_t FindPath(const PlacedPlan& placed, const Operation& transfer);
    double GetLinkBound(const PlacedPlan& placed);
    double GetChainBound(const PlacedPlan& placed);
    std::vector<AggregationPace> MakePaces(const PlacedPlan& placed) const;

    NetworkModel m_model;
    PathCatalogue m_paths;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_ESTIMATOR_H
