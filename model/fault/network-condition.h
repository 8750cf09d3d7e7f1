// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NETWORK_CONDITION_H
#define GRADSYNC_NETWORK_CONDITION_H

#include "ns3/fault-spec.h"
#include "ns3/topology.h"
#include "ns3/transport.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace ns3::gradsync
{

/**
 * The sum of all faults that hold at this instant. Faults overlap: a link is up when no fault holds
 * it down, rate shares multiply, delays add, and of several losses the one that began last counts.
 *
 * Changes are collected and handed to the transport by Apply, so that a fault which ends as the
 * next one begins on the same target is no change.
 */
class NetworkCondition
{
  public:
    NetworkCondition(std::shared_ptr<const Topology> topology, const Ptr<Transport>& transport);

    /// A fault takes hold of a target, or lets go. \param target as GetTarget of the kind says
    void Begin(const FaultSpec& fault, uint32_t target);
    void End(const FaultSpec& fault, uint32_t target);

    /// The routing protocol learns that the links of a target of LinkDown or SwitchDown ended or
    /// returned.
    void Exclude(const FaultSpec& fault, uint32_t target);
    void Include(const FaultSpec& fault, uint32_t target);

    /// Tells the transport what has changed since the last call.
    void Apply();

  private:
    struct Link
    {
        uint32_t downs{0};
        std::vector<LinkState> degradations; //!< in the order of their beginnings
        uint32_t exclusions{0};
        LinkState applied;
    };

    struct Endpoint
    {
        uint32_t silences{0};
        uint32_t deafnesses{0};
        EndpointState applied;
    };

    /// A switch as far as it aggregates.
    struct Aggregator
    {
        uint32_t downs{0};
        uint32_t exclusions{0};
        bool applied{true};
    };

    void Change(const FaultSpec& fault, uint32_t target, bool begins);
    void ChangeExclusion(const FaultSpec& fault, uint32_t target, bool excludes);
    std::vector<LinkId> GetLinks(const FaultSpec& fault, uint32_t target) const;
    static LinkState Combine(const Link& link);
    void ApplyRoutes();
    void ApplyAggregators();

    std::shared_ptr<const Topology> m_topology;
    Ptr<Transport> m_transport;
    std::map<LinkId, Link> m_links;
    std::map<uint32_t, Endpoint> m_endpoints;
    std::map<NodeId, Aggregator> m_aggregators;
    std::set<LinkId> m_changedLinks;
    std::set<NodeId> m_changedAggregators;
    std::set<uint32_t> m_changedEndpoints;
    std::vector<bool> m_excluded; //!< [link] as the routes in use have it
    bool m_routesChanged{false};
    bool m_aggregationsChanged{false};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NETWORK_CONDITION_H
