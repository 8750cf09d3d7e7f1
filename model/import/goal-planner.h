// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GOAL_PLANNER_H
#define GRADSYNC_GOAL_PLANNER_H

#include "ns3/goal-graph.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * Turns a GOAL schedule that says nothing of data into a plan. Each message becomes a chunk of its
 * own, which its sender has at the start and its receiver wants at the end, so that the verifier
 * holds the plan to "every message reaches its receiver once". doc/import.rst says what becomes of
 * each step.
 */
class GoalPlanner
{
  public:
    /// What the collective of such a plan is called.
    static constexpr const char* COLLECTIVE = "exchange of messages";

    /// \param schedule must outlive the planner \throws ImportError as GoalGraph
    explicit GoalPlanner(const GoalSchedule& schedule);

    /// \throws ImportError with file, line and what is wrong. Call once.
    Plan Build();

  private:
    void NumberSteps();
    void AddEdges();
    OperationId GetEnd(size_t step) const;
    OperationId GetStart(size_t step);
    PlanBuilder MakeBuilder() const;
    void AddOperation(PlanBuilder& builder, OperationId id, uint32_t& chunk) const;

    GoalGraph m_graph;
    std::vector<OperationId> m_operation; //!< [step]; NONE: it ends with that of its send
    std::vector<OperationId> m_start;     //!< [step] the join that stands for its start, if any
};

/// The plan of a schedule: as it was exported if it has the annotations, else by GoalPlanner.
/// \throws ImportError with file, line and what is wrong
Plan BuildGoalPlan(const GoalSchedule& schedule);

} // namespace ns3::gradsync

#endif // GRADSYNC_GOAL_PLANNER_H
