// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GOAL_WRITER_H
#define GRADSYNC_GOAL_WRITER_H

#include "ns3/plan.h"

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * Writes a plan as a GOAL schedule, the text form that LogGOPSim and ATLAHS read: every transfer is
 * a send at one rank and a recv at another, every join and every move within a rank a calc of 0,
 * and what computes a calc of so many nanoseconds. Comments say what GOAL does not
 * (goal_annotation), so that GoalPlanner can read the same plan again.
 *
 * A GOAL dependency stays inside a rank. What starts at the receiver of a transfer requires its
 * recv; what starts at the sender only requires the send, which is done when the sender is, not the
 * receiver. Where an operation waits for one of other ranks, a message of one byte tells it.
 * doc/plan.rst says more.
 */
class GoalWriter
{
  public:
    /// \throws std::invalid_argument for a plan with aggregations, which GOAL cannot say
    explicit GoalWriter(const Plan& plan);

    /// Messages of one byte that are in no plan.
    uint32_t GetSignalCount() const
    {
        return m_signalCount;
    }

    void Write(std::ostream& stream) const;

  private:
    /// Label of the step at `rank` that ends when `id` does, as far as that rank knows.
    std::string GetEnd(OperationId id, uint32_t rank) const;
    /// Label of the step that starts `id`.
    std::string GetStart(OperationId id) const;
    void AddOperation(OperationId id);
    std::string WriteCalc(OperationId id) const;
    void AddDependency(OperationId earlier, OperationId later);
    bool Involves(OperationId id, uint32_t rank) const;

    const Plan& m_plan;
    uint32_t m_signalCount{0};
    std::vector<std::string> m_steps;        //!< [rank]: one a line
    std::vector<std::string> m_dependencies; //!< [rank]: one a line
};

} // namespace ns3::gradsync

#endif // GRADSYNC_GOAL_WRITER_H
