// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/transport-capabilities.h"

#include "ns3/fabric-network.h"
#include "ns3/network-aggregation.h"

namespace ns3::gradsync
{

bool
TransportCapabilities::HasPackets() const
{
    return false;
}

double
TransportCapabilities::GetPayloadShare() const
{
    return 1.0;
}

bool
TransportCapabilities::HasHostFaults() const
{
    return false;
}

std::vector<std::string>
TransportCapabilities::ListParts() const
{
    return {};
}

Ptr<Object>
TransportCapabilities::GetPart(const std::string& /* name */)
{
    return nullptr;
}

Ptr<FabricNetwork>
TransportCapabilities::GetFabric() const
{
    return nullptr;
}

std::vector<std::string>
TransportCapabilities::ListConcerns(const Topology& /* topology */)
{
    return {};
}

void
TransportCapabilities::SetAggregation(const Ptr<NetworkAggregation>& /* aggregation */)
{
}

DividedTransport*
TransportCapabilities::GetDivided()
{
    return nullptr;
}

void
TransportCapabilities::Capture(LinkId /* link */, const std::string& /* folder */)
{
}

void
TransportCapabilities::CloseCaptures()
{
}

} // namespace ns3::gradsync
