// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fabric-helper.h"

#include "ns3/boolean.h"
#include "ns3/exchange-engine.h"
#include "ns3/fabric-host.h"
#include "ns3/fabric-network.h"
#include "ns3/fluid-transport.h"
#include "ns3/global-value.h"
#include "ns3/network-reader.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/radix-scheduler.h"
#include "ns3/roce-transport.h"
#include "ns3/routing-tables.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-transport.h"
#include "ns3/tiered-transport.h"
#include "ns3/window-simulator-impl.h"

#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

namespace
{

TypeId
FindTransport(const std::string& name)
{
    // By their functions, so that programs which link the library statically have all of them.
    static const std::map<std::string, TypeId> own{{"fluid", FluidTransport::GetTypeId()},
                                                   {"roce", RoceTransport::GetTypeId()},
                                                   {"tcp", TcpTransport::GetTypeId()}};
    if (const auto found = own.find(name); found != own.end())
    {
        return found->second;
    }
    TypeId type;
    if (!TypeId::LookupByNameFailSafe(name, &type) || !type.IsChildOf(Transport::GetTypeId()) ||
        !type.HasConstructor())
    {
        throw std::invalid_argument(
            fmt::format("there is no transport \"{}\" (there are fluid, roce, tcp, and the types "
                        "of programs by the names of their TypeIds)",
                        name));
    }
    return type;
}

/// The end of a network, before the simulator goes.
void
EndNetwork(const Ptr<ExchangeEngine>& engine, const Ptr<Transport>& transport)
{
    if (auto* capabilities = transport->GetCapabilities())
    {
        capabilities->CloseCaptures();
    }
    engine->Dispose();
    transport->Dispose();
}

void
Capture(const Ptr<Transport>& transport, const std::set<LinkId>& links, const std::string& folder)
{
    auto* capabilities = transport->GetCapabilities();
    if (!capabilities || !capabilities->HasPackets())
    {
        throw std::invalid_argument("this transport has no packets to capture");
    }
    std::filesystem::create_directories(folder);
    for (const auto link : links)
    {
        capabilities->Capture(link, folder);
    }
}

} // namespace

FabricHelper::FabricHelper(const std::string& transport)
    : m_transport(FindTransport(transport)),
      m_fabric(FabricNetwork::GetTypeId())
{
}

void
FabricHelper::SetTransportAttribute(const std::string& name, const AttributeValue& value)
{
    m_transport.Set(name, value);
}

void
FabricHelper::SetFabricAttribute(const std::string& name, const AttributeValue& value)
{
    const auto transport = Create();
    const auto* capabilities = transport->GetCapabilities();
    if (!capabilities || !capabilities->GetFabric())
    {
        throw std::invalid_argument(
            fmt::format("{} has no FabricNetwork whose Attribute {} could be set",
                        m_transport.GetType().GetName(),
                        name));
    }
    m_fabric.Set(name, value);
}

void
FabricHelper::SetPartAttribute(const std::string& part,
                               const std::string& name,
                               const AttributeValue& value)
{
    auto found = m_parts.find(part);
    if (found == m_parts.end())
    {
        const auto transport = Create();
        auto* capabilities = transport->GetCapabilities();
        const auto object = capabilities ? capabilities->GetPart(part) : nullptr;
        if (!object)
        {
            throw std::invalid_argument(
                fmt::format("{} has no part \"{}\"", m_transport.GetType().GetName(), part));
        }
        found = m_parts.emplace(part, CheckedAttributes(object->GetInstanceTypeId())).first;
    }
    found->second.Set(name, value);
}

void
FabricHelper::ChooseCongestionControl(const std::string& name)
{
    SetTransportAttribute("CongestionControl", StringValue(name));
}

void
FabricHelper::SetAggregation(const AggregationHelper& aggregation)
{
    m_aggregation = aggregation;
}

void
FabricHelper::UseFluidServers()
{
    CreateObject<TieredTransport>()->SetNetwork(Create()); // which says whether it can
    m_hasFluidServers = true;
}

Ptr<Transport>
FabricHelper::Create() const
{
    ObjectFactory factory;
    factory.SetTypeId(m_transport.GetType());
    auto transport = factory.Create<Transport>();
    m_aggregation.Install(transport);
    m_transport.Apply(*transport);
    if (auto* capabilities = transport->GetCapabilities())
    {
        for (const auto& [part, attributes] : m_parts)
        {
            attributes.Apply(*capabilities->GetPart(part));
        }
        if (const auto fabric = capabilities->GetFabric())
        {
            m_fabric.Apply(*fabric);
        }
    }
    return transport;
}

Ptr<Transport>
FabricHelper::InstallTransport(const std::shared_ptr<const Topology>& topology) const
{
    if (Time::GetResolution() != Time::PS)
    {
        throw std::logic_error("links are too fast for the simulator's clock: begin the program "
                               "with Time::SetResolution(Time::PS)");
    }
    auto transport = Create();
    if (m_hasFluidServers)
    {
        const auto tiered = CreateObject<TieredTransport>();
        tiered->SetNetwork(transport);
        transport = tiered;
    }
    transport->Install(topology, std::make_shared<const RoutingTables>(*topology));
    return transport;
}

NodeContainer
FabricHelper::Install(const std::shared_ptr<const Topology>& topology) const
{
    topology->CheckConnected();
    const auto transport = InstallTransport(topology);
    auto engine = CreateObject<ExchangeEngine>();
    engine->SetTransport(transport);
    Simulator::ScheduleDestroy(&EndNetwork, engine, transport);
    NodeContainer hosts;
    for (uint32_t endpoint = 0; endpoint < topology->GetEndpoints().size(); ++endpoint)
    {
        auto host = CreateObject<FabricHost>();
        host->Attach(topology, transport, engine, endpoint);
        hosts.Add(engine->MakeNode(endpoint));
        hosts.Get(endpoint)->AggregateObject(host);
    }
    return hosts;
}

void
FabricHelper::Adopt(const NodeContainer& hosts) const
{
    const auto transport = DynamicCast<TcpTransport>(Create());
    if (!transport)
    {
        throw std::invalid_argument(
            fmt::format("{} builds its networks itself: only the transport \"tcp\" runs on one of "
                        "the program's own",
                        m_transport.GetType().GetName()));
    }
    for (const auto* name : {"QueueDisc", "QueueSize", "LoadBalancing", "HashSeed", "LossRate"})
    {
        if (m_transport.Has(name))
        {
            throw std::invalid_argument(fmt::format("{} is of networks that the transport builds: "
                                                    "this one has what the program gave it",
                                                    name));
        }
    }
    for (auto node = hosts.Begin(); node != hosts.End(); ++node)
    {
        if ((*node)->GetObject<FabricHost>())
        {
            throw std::invalid_argument(fmt::format("node {} is a host of a network already: "
                                                    "FabricHelper::Adopt takes all hosts of one "
                                                    "at once",
                                                    (*node)->GetId()));
        }
    }
    const auto network = ReadNetwork(hosts);
    transport->InstallOn(network);
    auto engine = CreateObject<ExchangeEngine>();
    engine->SetAttribute("StopsSimulator", BooleanValue(false));
    engine->SetTransport(transport);
    Simulator::ScheduleDestroy(&EndNetwork, engine, Ptr<Transport>(transport));
    for (uint32_t endpoint = 0; endpoint < hosts.GetN(); ++endpoint)
    {
        auto host = CreateObject<FabricHost>();
        host->Attach(network.topology, transport, engine, endpoint);
        engine->SetNode(endpoint, hosts.Get(endpoint));
        hosts.Get(endpoint)->AggregateObject(host);
    }
}

NodeContainer
FabricHelper::Install(Topology topology) const
{
    return Install(std::make_shared<const Topology>(std::move(topology)));
}

void
FabricHelper::UseFastScheduler()
{
    // Asked for when the simulator is made, which is here or was before.
    constexpr const char* NAME = "SimulatorImplementationType";
    StringValue chosen;
    GlobalValue::GetValueByName(NAME, chosen);
    const bool isDefault = chosen.Get() == "ns3::DefaultSimulatorImpl";
    if (isDefault)
    {
        GlobalValue::Bind(NAME, StringValue(WindowSimulatorImpl::GetTypeId().GetName()));
    }
    ObjectFactory factory;
    factory.SetTypeId(RadixScheduler::GetTypeId());
    Simulator::SetScheduler(factory);
    GlobalValue::Bind(NAME, chosen);
}

void
FabricHelper::EnablePcap(const std::string& folder, const NodeContainer& hosts) const
{
    std::map<Ptr<Transport>, std::set<LinkId>> links;
    for (auto node = hosts.Begin(); node != hosts.End(); ++node)
    {
        const auto host = FabricHost::Of(*node);
        const auto& topology = *host->GetTopology();
        for (const auto& port : topology.GetPorts(topology.GetEndpoints()[host->GetEndpoint()]))
        {
            if (IsEthernet(topology.GetLinks()[port.link]))
            {
                links[host->GetTransport()].insert(port.link);
            }
        }
    }
    for (const auto& [transport, own] : links)
    {
        Capture(transport, own, folder);
    }
}

void
FabricHelper::EnablePcapAll(const std::string& folder, const NodeContainer& hosts) const
{
    const auto host = FabricHost::Of(hosts);
    const auto all = host->GetTopology()->GetLinks();
    std::set<LinkId> links;
    for (LinkId link = 0; link < all.size(); ++link)
    {
        if (IsEthernet(all[link]))
        {
            links.insert(link);
        }
    }
    Capture(host->GetTransport(), links, folder);
}

} // namespace ns3::gradsync
