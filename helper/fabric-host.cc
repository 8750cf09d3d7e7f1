// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fabric-host.h"

#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/uinteger.h"

#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(FabricHost);

TypeId
FabricHost::GetTypeId()
{
    // The objects are Attributes so that paths of Config lead to their trace sources.
    static TypeId tid =
        TypeId("ns3::gradsync::FabricHost")
            .SetParent<Object>()
            .SetGroupName("GradSync")
            .AddConstructor<FabricHost>()
            .AddAttribute("Endpoint",
                          "Number of the endpoint in its topology.",
                          TypeId::ATTR_GET,
                          UintegerValue(0),
                          MakeUintegerAccessor(&FabricHost::m_endpoint),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Transport",
                          "By which the endpoint sends; the same for all of a network.",
                          TypeId::ATTR_GET,
                          PointerValue(),
                          MakePointerAccessor(&FabricHost::m_transport),
                          MakePointerChecker<Transport>())
            .AddAttribute("Engine",
                          "Which runs the exchanges; the same for all of a network.",
                          TypeId::ATTR_GET,
                          PointerValue(),
                          MakePointerAccessor(&FabricHost::m_engine),
                          MakePointerChecker<ExchangeEngine>());
    return tid;
}

void
FabricHost::Attach(std::shared_ptr<const Topology> topology,
                   const Ptr<Transport>& transport,
                   const Ptr<ExchangeEngine>& engine,
                   uint32_t endpoint)
{
    m_topology = std::move(topology);
    m_transport = transport;
    m_engine = engine;
    m_endpoint = endpoint;
}

Ptr<FabricHost>
FabricHost::Of(const Ptr<Node>& node)
{
    auto host = node->GetObject<FabricHost>();
    if (!host)
    {
        throw std::invalid_argument(fmt::format("node {} is no host of a network: take those that "
                                                "FabricHelper::Install returns, or hand all of "
                                                "your own to FabricHelper::Adopt",
                                                node->GetId()));
    }
    return host;
}

Ptr<FabricHost>
FabricHost::Of(const NodeContainer& hosts)
{
    if (hosts.GetN() == 0)
    {
        throw std::invalid_argument("there are no hosts");
    }
    return Of(hosts.Get(0));
}

void
FabricHost::DoDispose()
{
    // The engine holds the Nodes, and those hold this.
    m_engine = nullptr;
    m_transport = nullptr;
    m_topology = nullptr;
    Object::DoDispose();
}

} // namespace ns3::gradsync
