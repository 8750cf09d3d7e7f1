// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_AGGREGATIONS_H
#define GRADSYNC_PLAN_AGGREGATIONS_H

#include "ns3/plan.h"
#include "ns3/transport.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// What one execution of a plan gives to groups of the transport, and when.
class AggregationTurn
{
  public:
    /// Of a plan without aggregations.
    AggregationTurn() = default;

    /// What an operation gives; all but tag and handler.
    AggregationMessage MakeMessage(const Plan& plan, OperationId id) const;

  private:
    friend class PlanAggregations;

    std::vector<uint32_t> m_groups; //!< [group of the plan] -> of the transport
    std::vector<uint64_t> m_first;  //!< [group of the plan] number of its first aggregation
    std::shared_ptr<const std::vector<uint32_t>> m_index; //!< [operation] in its group
};

/**
 * The groups of a transport that aggregate for plans among the same ranks. They stay open over any
 * number of executions, which take turns: those of a group are done in the order in which
 * executions took theirs, and each rank may go ahead of the others. Plans have groups in common
 * where they ask for the same.
 */
class PlanAggregations
{
  public:
    /**
     * Those of the plan that are not open already.
     * \param endpoints [rank of the plan]
     * \param roots switches at which the groups of the plan come together, in turn; empty: the
     * network chooses
     * \throws std::runtime_error with a text for the user when the network cannot,
     * AggregationDenied when it has no room now; then none are open
     */
    void Open(const Plan& plan,
              std::span<const uint32_t> endpoints,
              const Ptr<Transport>& transport,
              std::span<const NodeId> roots = {});

    /// With all that is under way. Nothing is closed by destruction: networks may go first.
    void Close();

    /// The next execution begins. \param plan open, if it has aggregations
    AggregationTurn TakeTurn(const Plan& plan);

    /// The groups of the transport, by group of the plan. \param plan open
    std::vector<uint32_t> ListGroups(const Plan& plan) const;

    /// Whether a group of the transport is one of these.
    bool Contains(uint32_t group) const;

  private:
    /// A group of the transport.
    struct Session
    {
        AggregationGroup asked;
        uint32_t group;
        uint64_t next{0}; //!< number of the next aggregation
    };

    /// How a plan uses them.
    struct Use
    {
        std::vector<size_t> sessions; //!< [group of the plan]
        std::vector<uint32_t> count;  //!< [group of the plan] aggregations in one execution
        std::shared_ptr<const std::vector<uint32_t>> index; //!< [operation] in its group
    };

    size_t FindSession(const AggregationGroup& asked, const std::vector<size_t>& taken);

    Ptr<Transport> m_transport;
    std::vector<Session> m_sessions;
    std::map<const Plan*, Use> m_uses;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_AGGREGATIONS_H
