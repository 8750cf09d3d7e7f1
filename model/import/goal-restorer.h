// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GOAL_RESTORER_H
#define GRADSYNC_GOAL_RESTORER_H

#include "ns3/goal-graph.h"

#include <vector>

namespace ns3::gradsync
{

/// Reads the plan again that a GoalWriter wrote, by its annotations, which the schedule must have.
/// Edges are those of the schedule; signals are none of the plan's.
class GoalRestorer
{
  public:
    /// \param schedule must outlive this \throws ImportError as GoalGraph
    explicit GoalRestorer(const GoalSchedule& schedule);

    /// \throws ImportError with file, line and what does not fit. Call once.
    Plan Build();

  private:
    const goal_annotation::StepNote* FindNote(size_t step) const;
    bool IsSignal(size_t step) const;
    void NumberSteps();
    void CheckNote(size_t step) const;
    OperationId GetEnd(size_t step) const;
    void ReadSignals();
    void AddEdges();
    PlanBuilder MakeBuilder() const;
    void AddOperation(PlanBuilder& builder, OperationId id) const;
    void AddAnswers(PlanBuilder& builder) const;

    GoalGraph m_graph;
    ChunkLayout m_layout;
    /// [step] its operation; of a signal the one that it tells of
    std::vector<OperationId> m_operation;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_GOAL_RESTORER_H
