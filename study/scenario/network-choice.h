// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NETWORK_CHOICE_H
#define GRADSYNC_NETWORK_CHOICE_H

#include "ns3/aggregation-finder.h"
#include "ns3/attribute-reader.h"
#include "ns3/fabric-helper.h"
#include "ns3/p4-switch-program.h"
#include "ns3/topology.h"
#include "ns3/transport-registry.h"

#include <map>
#include <memory>
#include <vector>

namespace ns3::gradsync
{

/// All that a scenario says of its network but the graph.
struct NetworkChoice
{
    TransportChoice transport;
    AttributeSettings fabric;
    std::map<NodeId, P4SwitchProgram> programs; //!< of switches that run a P4 program of the user
    bool hasFluidServers;                       //!< messages inside a server go as a fluid
};

/// Builds such networks. \throws std::invalid_argument for Attributes that do not go
FabricHelper MakeFabricHelper(const NetworkChoice& choice);

/**
 * What the scheme `auto` may let the switches do: aggregate by the protocols that have a section of
 * `transport.aggregation`, as far as they can, which is found out on a network that is built for
 * each question. None: nobody says that they can. \param roots as of Job
 */
AggregationFinder MakeAggregationFinder(const NetworkChoice& choice,
                                        const std::shared_ptr<const Topology>& topology,
                                        const std::vector<NodeId>& roots);

} // namespace ns3::gradsync

#endif // GRADSYNC_NETWORK_CHOICE_H
