// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/tiered-transport.h"

#include "ns3/double.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(TieredTransport);

TypeId
TieredTransport::GetTypeId()
{
    static TypeId tid = TypeId("ns3::gradsync::TieredTransport")
                            .SetParent<Transport>()
                            .SetGroupName("GradSync")
                            .AddConstructor<TieredTransport>();
    return tid;
}

TieredTransport::TieredTransport() = default;

TieredTransport::~TieredTransport() = default;

void
TieredTransport::DoDispose()
{
    for (const auto& server : m_servers)
    {
        server.fluid->Dispose();
    }
    m_servers.clear();
    if (m_network)
    {
        m_network->Dispose();
    }
    m_network = nullptr;
    m_capabilities = nullptr;
    m_topology.reset();
    Transport::DoDispose();
}

void
TieredTransport::SetNetwork(const Ptr<Transport>& network)
{
    m_network = network;
    m_capabilities = network->GetCapabilities();
    if (m_capabilities == nullptr || m_capabilities->GetFabric() == nullptr)
    {
        throw std::invalid_argument(
            fmt::format("servers as fluids go with packets over the fabric between them, which {} "
                        "does not send",
                        network->GetInstanceTypeId().GetName()));
    }
}

void
TieredTransport::Install(std::shared_ptr<const Topology> topology,
                         std::shared_ptr<const RoutingTables> routes)
{
    m_topology = std::move(topology);
    m_places.assign(m_topology->GetEndpoints().size(), Place{});
    m_isInnerLink.assign(m_topology->GetLinks().size(), false);
    for (const auto& inner : FindInnerNetworks(*m_topology))
    {
        InstallServer(inner, *routes);
    }
    if (m_servers.empty())
    {
        throw std::invalid_argument("no server has links that only messages inside it use, as to "
                                    "an NVSwitch, and that could run as a fluid");
    }
    m_network->Install(m_topology, std::move(routes));
}

void
TieredTransport::InstallServer(const InnerNetwork& inner, const RoutingTables& routes)
{
    Server server{CreateObject<FluidTransport>(), inner.endpoints, inner.links, {}};
    for (const auto link : inner.links)
    {
        m_isInnerLink[link] = true;
    }
    for (uint32_t i = 0; i < inner.endpoints.size(); ++i)
    {
        m_places[inner.endpoints[i]] = {static_cast<uint32_t>(m_servers.size()), i};
    }
    for (const auto src : inner.endpoints)
    {
        for (const auto dst : inner.endpoints)
        {
            const auto shares = routes.GetEvenSplit(src, dst);
            const auto count = std::ranges::count_if(shares, [this](const auto& share) {
                return m_isInnerLink[share.link];
            });
            if (count != 0 && count != std::ssize(shares))
            {
                const auto nodes = m_topology->GetNodes();
                const auto ends = m_topology->GetEndpoints();
                throw std::invalid_argument(
                    fmt::format("messages from {} to {} would go partly as a fluid",
                                nodes[ends[src]].name,
                                nodes[ends[dst]].name));
            }
            server.isInner.push_back(count != 0);
        }
    }
    const auto topology = std::make_shared<const Topology>(inner.topology);
    server.fluid->SetAttribute("Efficiency", DoubleValue(m_capabilities->GetPayloadShare()));
    server.fluid->Install(topology, std::make_shared<const RoutingTables>(*topology));
    m_servers.push_back(std::move(server));
}

const TieredTransport::Server*
TieredTransport::FindServer(uint32_t src, uint32_t dst) const
{
    if (src >= m_places.size() || dst >= m_places.size() || m_places[src].server == NONE ||
        m_places[src].server != m_places[dst].server)
    {
        return nullptr;
    }
    const auto& server = m_servers[m_places[src].server];
    const auto pair = m_places[src].endpoint * server.endpoints.size() + m_places[dst].endpoint;
    return server.isInner[pair] ? &server : nullptr;
}

void
TieredTransport::PrefetchSend(uint32_t src, uint32_t dst, uint32_t stream) const
{
    m_network->PrefetchSend(src, dst, stream); // of messages inside a server it is needless
}

void
TieredTransport::Send(const Message& message)
{
    const auto* server = FindServer(message.src, message.dst);
    if (server == nullptr)
    {
        m_network->Send(message);
        return;
    }
    auto inner = message;
    inner.src = m_places[message.src].endpoint;
    inner.dst = m_places[message.dst].endpoint;
    server->fluid->Send(inner);
}

void
TieredTransport::Abandon(const MessageFilter& isMeant)
{
    for (const auto& server : m_servers)
    {
        server.fluid->Abandon([&](uint32_t src, uint32_t dst, const MessageHandler* handler) {
            return isMeant(server.endpoints[src], server.endpoints[dst], handler);
        });
    }
    m_network->Abandon(isMeant);
}

std::vector<LinkStatistics>
TieredTransport::GetLinkStatistics() const
{
    auto statistics = m_network->GetLinkStatistics();
    for (const auto& server : m_servers)
    {
        const auto own = server.fluid->GetLinkStatistics();
        for (size_t i = 0; i < own.size(); ++i)
        {
            statistics[2 * size_t{server.links[i / 2]} + i % 2] = own[i];
        }
    }
    return statistics;
}

TransportStatistics
TieredTransport::GetStatistics() const
{
    auto statistics = m_network->GetStatistics();
    for (const auto& server : m_servers)
    {
        const auto own = server.fluid->GetStatistics();
        statistics.goodputBytes += own.goodputBytes;
        statistics.wireBytes += own.wireBytes;
    }
    return statistics;
}

void
TieredTransport::AddState(StateWords& words)
{
    m_network->AddState(words);
    for (const auto& server : m_servers)
    {
        server.fluid->AddState(words);
    }
}

} // namespace ns3::gradsync
