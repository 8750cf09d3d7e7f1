// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRANSPORT_FAULTS_H
#define GRADSYNC_TRANSPORT_FAULTS_H

#include "ns3/link-state.h"
#include "ns3/routing-tables.h"
#include "ns3/topology.h"

#include <cstdint>
#include <memory>

namespace ns3::gradsync
{

/// What faults do to the network under a transport, from the instant of the call on.
class TransportFaults
{
  public:
    /// Both directions of a link.
    virtual void SetLinkState(LinkId link, const LinkState& state) = 0;
    virtual void SetEndpointState(uint32_t endpoint, const EndpointState& state) = 0;
    /// The network has found other routes.
    virtual void SetRoutes(std::shared_ptr<const RoutingTables> routes) = 0;

  protected:
    ~TransportFaults() = default;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRANSPORT_FAULTS_H
