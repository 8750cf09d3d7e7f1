// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_SHELF_H
#define GRADSYNC_PLAN_SHELF_H

#include "ns3/plan.h"
#include "ns3/scheme-choice.h"
#include "ns3/worker-groups.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace ns3::gradsync
{

/**
 * Lowers collectives to plans, and keeps these: groups of the same shape share a plan of the same
 * size.
 */
class PlanShelf
{
  public:
    /// What of the topology schemes see: the levels that ranks fall into.
    using GroupFinder = std::function<WorkerGroups(std::span<const uint32_t> ranks)>;

    /// \param findGroups empty: ranks are all alike
    explicit PlanShelf(GroupFinder findGroups = {}, uint32_t elementBytes = 4);

    /**
     * \param ranks in the order in which the plan numbers them
     * \param bytes of the whole buffer, at least 1
     * \throws WorkloadError for a scheme with dedicated servers; SchemeError as schemes do
     */
    std::shared_ptr<const Plan> GetCollective(const SchemeChoice& choice,
                                              std::span<const uint32_t> ranks,
                                              uint64_t bytes);

    /// The levels that ranks fall into; empty: they are all alike.
    WorkerGroups FindGroups(std::span<const uint32_t> ranks) const;

    /// From the first of two ranks to the second.
    std::shared_ptr<const Plan> GetMessage(uint64_t bytes);

    size_t GetSize() const
    {
        return m_plans.size();
    }

  private:
    /// Scheme, parameters, the groups' levels, workers, bytes.
    using Key = std::tuple<std::string,
                           std::map<std::string, ParameterValue>,
                           std::vector<double>,
                           uint32_t,
                           uint64_t>;

    GroupFinder m_findGroups;
    uint32_t m_elementBytes;
    std::map<Key, std::shared_ptr<const Plan>> m_plans;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_SHELF_H
