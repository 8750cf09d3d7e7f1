// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/transport-registry.h"

#include "ns3/fabric-network.h"
#include "ns3/fluid-transport.h"
#include "ns3/roce-transport.h"

namespace ns3::gradsync
{

const std::vector<TransportEntry>&
GetTransports()
{
    static const std::vector<TransportEntry> transports{
        {"fluid",
         "max-min fair rates, no packets: the oracle and a fast preview",
         &FluidTransport::GetTypeId,
         false},
        {"roce",
         "RoCEv2 reliable connections, packet by packet over the fabric",
         &RoceTransport::GetTypeId,
         true}};
    return transports;
}

std::vector<std::string>
GetTransportKinds()
{
    std::vector<std::string> kinds;
    for (const auto& entry : GetTransports())
    {
        kinds.push_back(entry.kind);
    }
    return kinds;
}

std::vector<std::string>
GetTransportKeys(std::string_view kind)
{
    for (const auto& entry : GetTransports())
    {
        if (entry.kind == kind)
        {
            auto keys = GetAttributeKeys(entry.getTypeId());
            keys.insert(keys.begin(), "kind");
            return keys;
        }
    }
    return {};
}

TypeId
GetFabricTypeId()
{
    return FabricNetwork::GetTypeId();
}

std::vector<std::string>
GetFabricKeys()
{
    return GetAttributeKeys(GetFabricTypeId());
}

Ptr<Object>
GetFabric(const Ptr<Transport>& transport)
{
    const auto roce = DynamicCast<RoceTransport>(transport);
    return roce ? roce->GetFabric() : nullptr;
}

TransportChoice
ReadTransport(const JsonValue& value)
{
    TransportChoice choice;
    choice.kind = DEFAULT_TRANSPORT_KIND;
    if (const auto kind = value.Find("kind"))
    {
        choice.kind = kind->AsChoice(GetTransportKinds());
    }
    for (const auto& entry : GetTransports())
    {
        if (entry.kind == choice.kind)
        {
            choice.type = entry.getTypeId();
        }
    }
    choice.attributes = ReadAttributes(value, choice.type, {"kind"});
    return choice;
}

} // namespace ns3::gradsync
