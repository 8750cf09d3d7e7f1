// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_ROSTER_H
#define GRADSYNC_PLAN_ROSTER_H

#include "ns3/exchange-records.h"
#include "ns3/job.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * The plans of a job: that of all its ranks, those of survivors, and what is left of plans with a
 * gate. Plans are made when they are first asked for and have a number, which records name.
 */
class PlanRoster
{
  public:
    /// \param job outlives the roster
    explicit PlanRoster(const Job& job);

    std::span<const ExecutedPlan> GetPlans() const
    {
        return m_plans;
    }

    const ExecutedPlan& Get(uint32_t index) const
    {
        return m_plans[index];
    }

    /// Takes up what the job has for its iterations from this one on.
    void BeginIteration(uint32_t iteration);

    /*
     * Of some ranks of the job, ascending. Each \throws std::runtime_error with a text for the user
     * when there is none.
     */
    /// The plan by which these ranks exchange a whole gradient.
    uint32_t FindWhole(const std::vector<uint32_t>& ranks);
    /// Likewise of the workers among them, without switches that aggregate.
    uint32_t FindWholeFallback(const std::vector<uint32_t>& ranks);
    /// A plan by which they go on. \param bytes missing of the gradient; nothing: all of it
    uint32_t FindRest(const std::vector<uint32_t>& ranks, std::optional<uint64_t> bytes);
    uint32_t FindRestFallback(const std::vector<uint32_t>& ranks, std::optional<uint64_t> bytes);

    /**
     * What is left of a plan when ranks are lost, proved to be whole.
     * \param isLost [rank of the plan]; at least one worker is left
     * \throws std::logic_error when it is not
     */
    uint32_t FindPart(uint32_t index, const std::vector<bool>& isLost);

  private:
    using Ranks = std::vector<uint32_t>;

    Ranks DropServers(Ranks ranks) const;
    uint32_t Find(std::map<Ranks, uint32_t>& known,
                  const Ranks& ranks,
                  const SurvivorPlanner& planner);
    uint32_t Add(const Ranks& ranks, std::optional<uint64_t> bytes, const SurvivorPlanner& planner);
    ExecutedPlan MakePart(uint32_t index, const std::vector<bool>& isLost, Ranks ranks) const;

    const Job& m_job;
    uint32_t m_iteration{0};
    std::vector<ExecutedPlan> m_plans;
    std::map<Ranks, uint32_t> m_wholes;    //!< ranks -> their plan for all of a gradient
    std::map<Ranks, uint32_t> m_fallbacks; //!< likewise, without switches
    /// Plan and the ranks left of it -> the plan of these.
    std::map<std::pair<uint32_t, Ranks>, uint32_t> m_parts;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_ROSTER_H
