// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AUTO_PLANNER_H
#define GRADSYNC_AUTO_PLANNER_H

#include "ns3/aggregation-finder.h"
#include "ns3/plan-estimator.h"
#include "ns3/scheme.h"
#include "ns3/topology.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What has to be exchanged, and where.
struct AutoRequest
{
    SchemeRequest exchange;           //!< its parameters are not used
    std::vector<uint32_t> endpointOf; //!< [rank] -> endpoint, of the workers
    double reduceSecondsPerByte{0.0}; //!< as of Job
    /// Builds the plan of a scheme in another way than the scheme alone does, as to compress it.
    std::function<Plan(const Scheme&, const SchemeRequest&)> build{};
    AggregationFinder findLoads{}; //!< none: no switches aggregate
};

/// A scheme with parameters that can do it.
struct AutoCandidate
{
    const Scheme* scheme{nullptr};
    ParameterSet parameters;               //!< complete
    double boundSeconds{0.0};              //!< PlanEstimator::GetLowerBound
    std::optional<double> estimateSeconds; //!< nothing: it is not better than the best one
    uint64_t operations{0};                //!< of its plan
    std::vector<AggregationLoad> loads{};  //!< by group of its plan

    /// The estimate, or the bound where there is none.
    double GetSeconds() const
    {
        return estimateSeconds.value_or(boundSeconds);
    }

    /// As `ring pipelineChunks=4`: the parameters that are not the default.
    std::string Describe() const;
};

/**
 * Finds the all-reduce that takes the least time on a network, by estimates alone: a pure function
 * of topology, packets and request. doc/auto.rst tells how good its choice is.
 */
class AutoPlanner
{
  public:
    /// \param topology must outlive the planner
    AutoPlanner(const Topology& topology, const NetworkModel& model);

    /**
     * All candidates with their bounds, and with estimates as long as these improve. Best first: by
     * estimate, then those without one by bound.
     * \throws SchemeError when no scheme can do it
     */
    std::vector<AutoCandidate> Rank(const AutoRequest& request);

    /// The plan of a candidate.
    static Plan Build(const AutoRequest& request, const AutoCandidate& candidate);

  private:
    std::vector<AutoCandidate> FindCandidates(const AutoRequest& request);
    void AddCandidate(const AutoRequest& request,
                      const Scheme& scheme,
                      ParameterSet parameters,
                      std::vector<AutoCandidate>& candidates);
    static bool FindLoads(const AutoRequest& request, const Plan& plan, AutoCandidate& candidate);

    PlanEstimator m_estimator;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AUTO_PLANNER_H
