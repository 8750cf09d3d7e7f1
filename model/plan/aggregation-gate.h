// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_GATE_H
#define GRADSYNC_AGGREGATION_GATE_H

#include "ns3/plan.h"

#include <cstdint>
#include <map>

namespace ns3::gradsync
{

/**
 * For walks through a plan in the order of its edges: the operations of an aggregation end only
 * when all of them have begun, so that a walk must not pass one of them before it has reached all.
 */
class AggregationGate
{
  public:
    /// \param plan must outlive the gate
    explicit AggregationGate(const Plan& plan)
        : m_plan(plan)
    {
    }

    /// Everything before `id` was passed: calls `pass` with each operation that may be passed now.
    template <typename F>
    void Reach(OperationId id, F&& pass)
    {
        if (!m_plan.HasAggregations() || !m_plan.GetOperations()[id].IsAggregate())
        {
            pass(id);
            return;
        }
        const auto members = m_plan.GetMembers(id);
        if (++m_reached[members.first] == members.last - members.first)
        {
            for (auto member = members.first; member < members.last; ++member)
            {
                pass(member);
            }
        }
    }

  private:
    const Plan& m_plan;
    std::map<OperationId, uint32_t> m_reached; //!< [first operation] -> how many
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_GATE_H
