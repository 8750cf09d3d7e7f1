// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_AGGREGATIONS_H
#define GRADSYNC_PLAN_AGGREGATIONS_H

#include "ns3/plan.h"
#include "ns3/transport.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/**
 * The groups of a transport that aggregate for a plan. They stay open over any number of executions
 * of that plan, one after the other; two at once need groups of their own, because the aggregations
 * of a group run in order.
 */
class PlanAggregations
{
  public:
    /**
     * Unless open already.
     * \param endpoints [rank of the plan]
     * \throws std::runtime_error with a text for the user when the network cannot
     */
    void Open(const Plan& plan,
              std::span<const uint32_t> endpoints,
              const Ptr<Transport>& transport);

    /// With all that is under way. Nothing is closed by destruction: networks may go first.
    void Close();

    /// The next execution begins.
    void NextRound()
    {
        ++m_round;
    }

    /// Whether a group of the transport is one of these.
    bool Contains(uint32_t group) const;

    /// What an operation gives; all but tag and handler.
    AggregationMessage MakeMessage(const Plan& plan, OperationId id) const;

  private:
    void OpenGroup(const Plan& plan,
                   std::span<const uint32_t> ranks,
                   std::span<const uint32_t> endpoints);
    void NumberOperations(const Plan& plan);

    Ptr<Transport> m_transport;
    std::vector<uint32_t> m_groups; //!< [group of the plan] -> of the transport; empty: closed
    std::vector<uint32_t> m_index;  //!< [operation] in its group
    std::vector<uint32_t> m_count;  //!< [group] in one execution
    uint64_t m_round{0};            //!< executions since they were opened
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_AGGREGATIONS_H
