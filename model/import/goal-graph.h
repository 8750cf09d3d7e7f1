// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GOAL_GRAPH_H
#define GRADSYNC_GOAL_GRAPH_H

#include "ns3/goal-schedule.h"
#include "ns3/plan-builder.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// The steps of a schedule with their messages matched, and the operations and edges that a planner
/// makes of them.
class GoalGraph
{
  public:
    /// In place of an operation: none.
    static constexpr OperationId NONE = UINT32_MAX;

    /// \param schedule must outlive the graph \throws ImportError when a message has one end only
    explicit GoalGraph(const GoalSchedule& schedule);

    const GoalSchedule& GetSchedule() const
    {
        return m_schedule;
    }

    const GoalStep& GetStep(size_t step) const
    {
        return m_schedule.steps[step];
    }

    /// The other end of a message.
    size_t GetPartner(size_t step) const
    {
        return m_partner[step];
    }

    /// What waits for others, as numbers in the schedule's dependencies.
    const std::vector<size_t>& GetWaits(size_t step) const
    {
        return m_waits[step];
    }

    /// Says which step an operation belongs to.
    void SetStep(OperationId operation, size_t step);

    size_t GetStepOf(OperationId operation) const
    {
        return m_stepOf[operation];
    }

    /// Number of operations known so far; the next one's id if they come in order.
    OperationId CountOperations() const
    {
        return static_cast<OperationId>(m_stepOf.size());
    }

    void AddEdge(OperationId earlier, OperationId later)
    {
        m_edges.emplace_back(earlier, later);
    }

    /// Adds the edges. \throws ImportError with a step that waits for itself
    Plan Build(PlanBuilder builder) const;

    /// Throws an ImportError with file and line of the step before the text.
    [[noreturn]] void Fail(const GoalStep& step, const std::string& text) const;

  private:
    void MatchMessages();
    void CheckAcyclic() const;
    std::vector<uint32_t> CountUnmetWaits() const;

    const GoalSchedule& m_schedule;
    std::vector<size_t> m_partner;
    std::vector<std::vector<size_t>> m_waits;
    std::vector<size_t> m_stepOf;
    std::vector<std::pair<OperationId, OperationId>> m_edges; //!< earlier, later
};

} // namespace ns3::gradsync

#endif // GRADSYNC_GOAL_GRAPH_H
