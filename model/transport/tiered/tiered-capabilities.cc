// SPDX-License-Identifier: GPL-2.0-only
// What TieredTransport hands out: its network's, where inner links have no part in it.
#include "ns3/tiered-transport.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

TransportCapabilities*
TieredTransport::GetCapabilities()
{
    return this;
}

TransportFaults*
TieredTransport::GetFaults()
{
    return m_network->GetFaults() == nullptr ? nullptr : this;
}

TransportParts*
TieredTransport::GetParts()
{
    return m_network->GetParts() == nullptr ? nullptr : this;
}

bool
TieredTransport::HasPackets() const
{
    return true;
}

bool
TieredTransport::HasHostFaults() const
{
    return m_capabilities->HasHostFaults();
}

double
TieredTransport::GetPayloadShare() const
{
    return m_capabilities->GetPayloadShare();
}

std::vector<std::string>
TieredTransport::ListParts() const
{
    return m_capabilities->ListParts();
}

Ptr<Object>
TieredTransport::GetPart(const std::string& name)
{
    return m_capabilities->GetPart(name);
}

Ptr<FabricNetwork>
TieredTransport::GetFabric() const
{
    return m_capabilities->GetFabric();
}

std::vector<std::string>
TieredTransport::ListConcerns(const Topology& topology)
{
    return m_capabilities->ListConcerns(topology);
}

/// A message inside a server has nothing to do with others, so the network is all that is divided.
DividedTransport*
TieredTransport::GetDivided()
{
    return m_capabilities->GetDivided();
}

void
TieredTransport::Capture(LinkId link, const std::string& folder)
{
    m_capabilities->Capture(link, folder);
}

void
TieredTransport::CloseCaptures()
{
    m_capabilities->CloseCaptures();
}

void
TieredTransport::SetLinkState(LinkId link, const LinkState& state)
{
    if (m_isInnerLink[link])
    {
        const auto& ends = m_topology->GetLinks()[link];
        throw std::invalid_argument(
            fmt::format("link {}-{} runs as a fluid, of which nothing goes wrong",
                        m_topology->GetNodes()[ends.a].name,
                        m_topology->GetNodes()[ends.b].name));
    }
    m_network->RequireFaults().SetLinkState(link, state);
}

void
TieredTransport::SetEndpointState(uint32_t endpoint, const EndpointState& state)
{
    const auto& place = m_places[endpoint];
    if (place.server != NONE)
    {
        m_servers[place.server].fluid->SetEndpointState(place.endpoint, state);
    }
    m_network->RequireFaults().SetEndpointState(endpoint, state);
}

void
TieredTransport::SetRoutes(std::shared_ptr<const RoutingTables> routes)
{
    m_network->RequireFaults().SetRoutes(std::move(routes));
}

std::string
TieredTransport::FindObstacle() const
{
    return m_network->GetParts()->FindObstacle();
}

void
TieredTransport::AddPlaces(uint32_t src, uint32_t dst, std::set<uint32_t>& places) const
{
    if (FindServer(src, dst) == nullptr)
    {
        m_network->GetParts()->AddPlaces(src, dst, places);
    }
}

std::unique_ptr<NetworkPart>
TieredTransport::MakePart(std::span<const uint32_t> endpoints,
                          const std::set<std::pair<uint32_t, uint32_t>>& pairs)
{
    const bool hasInner = std::ranges::any_of(pairs, [&](const auto& pair) {
        return FindServer(endpoints[pair.first], endpoints[pair.second]) != nullptr;
    });
    return hasInner ? nullptr : m_network->GetParts()->MakePart(endpoints, pairs);
}

bool
TieredTransport::MayHaveTwins() const
{
    return m_network->GetParts()->MayHaveTwins();
}

void
TieredTransport::SetTwins(std::span<const PartTwins> sets)
{
    m_network->GetParts()->SetTwins(sets);
}

bool
TieredTransport::AreTwins() const
{
    return m_network->GetParts()->AreTwins();
}

} // namespace ns3::gradsync
