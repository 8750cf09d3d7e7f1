// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/transport-registry.h"

#include "ns3/congestion-controls.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-network.h"
#include "ns3/fluid-transport.h"
#include "ns3/parameter-reader.h"
#include "ns3/roce-transport.h"
#include "ns3/tcp-transport.h"
#include "ns3/wire-format.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <string>

namespace ns3::gradsync
{

namespace
{

/// The value of an Attribute, as the scenario sets it or its default.
std::string
GetValue(const TypeId& type, const AttributeSettings& settings, const std::string& attribute)
{
    for (const auto& [name, value] : settings)
    {
        if (name == attribute)
        {
            return value;
        }
    }
    TypeId::AttributeInformation information;
    type.LookupAttributeByName(attribute, &information);
    return information.initialValue->SerializeToString(information.checker);
}

uint32_t
GetAttributeNumber(const TypeId& type,
                   const AttributeSettings& settings,
                   const std::string& attribute)
{
    return static_cast<uint32_t>(std::stoul(GetValue(type, settings, attribute)));
}

/// One with default Attributes.
Ptr<Transport>
MakeTransport(const TypeId& type)
{
    return FabricHelper(type.GetName()).Create();
}

TransportEntry
MakeEntry(const char* kind, const char* summary, const TypeId& type)
{
    TransportEntry entry{kind, summary, type};
    const auto transport = MakeTransport(type);
    if (auto* capabilities = transport->GetCapabilities())
    {
        entry.hasPackets = capabilities->HasPackets();
        entry.hasHostFaults = capabilities->HasHostFaults();
        entry.hasFabric = capabilities->GetFabric() != nullptr;
    }
    return entry;
}

KindSpec
MakeTransportKind(const TransportEntry& entry)
{
    KindSpec kind{entry.kind, entry.summary, DescribeAttributes(entry.type)};
    for (const auto& part : entry.GetParts())
    {
        kind.parameters.push_back(
            part.name == AGGREGATION_PART
                ? MakeObjectSpec(part.name,
                                 "how switches aggregate, for schemes that let them: "
                                 "doc/aggregation.rst",
                                 GetAggregationParameters())
                : MakeObjectSpec(part.name,
                                 fmt::format("of congestionControl {}", part.name),
                                 DescribeAttributes(part.type)));
    }
    return kind;
}

} // namespace

const std::vector<TransportEntry>&
GetTransports()
{
    static const std::vector<TransportEntry> transports{
        MakeEntry("fluid",
                  "max-min fair rates, no packets: the oracle and a fast preview",
                  FluidTransport::GetTypeId()),
        MakeEntry("roce",
                  "RoCEv2 reliable connections, packet by packet over the fabric",
                  RoceTransport::GetTypeId()),
        MakeEntry("tcp",
                  "TCP by ns-3's Internet stack, any of its congestion controls and queue discs",
                  TcpTransport::GetTypeId())};
    return transports;
}

std::vector<TransportPart>
TransportEntry::GetParts() const
{
    const auto transport = MakeTransport(type);
    auto* capabilities = transport->GetCapabilities();
    std::vector<TransportPart> parts;
    if (capabilities == nullptr)
    {
        return parts;
    }
    for (auto& name : capabilities->ListParts())
    {
        const auto partType = capabilities->GetPart(name)->GetInstanceTypeId();
        parts.push_back({std::move(name), partType});
    }
    return parts;
}

bool
TransportEntry::Simulates(FaultKind fault) const
{
    switch (fault)
    {
    case FaultKind::HostPauseSend:
    case FaultKind::HostCrash:
        return hasHostFaults;
    case FaultKind::HostPause:
    case FaultKind::Flood:
    case FaultKind::Straggler:
    case FaultKind::LinkDown:
    case FaultKind::LinkDegraded:
    case FaultKind::SwitchDown:
    case FaultKind::AggregatorDown:
        break;
    }
    return true;
}

const TransportEntry&
GetTransport(std::string_view kind)
{
    const auto& entries = GetTransports();
    return *std::find_if(entries.begin(), entries.end(), [kind](const auto& entry) {
        return entry.kind == kind;
    });
}

std::span<const KindSpec>
GetTransportKinds()
{
    static const std::vector<KindSpec> kinds = [] {
        std::vector<KindSpec> list;
        std::ranges::transform(GetTransports(), std::back_inserter(list), MakeTransportKind);
        return list;
    }();
    return kinds;
}

TypeId
GetFabricTypeId()
{
    return FabricNetwork::GetTypeId();
}

std::string
GetForeignTypes(const TransportChoice& choice)
{
    std::vector<std::string> named;
    for (const auto& [name, value] : choice.attributes)
    {
        if (choice.type == TcpTransport::GetTypeId() &&
            (name == "QueueDisc" || name == "CongestionOps") && !value.empty())
        {
            named.push_back(value);
        }
    }
    return fmt::format("{}", fmt::join(named, " with "));
}

NetworkModel
GetNetworkModel(const TransportChoice& transport, const AttributeSettings& fabric, uint32_t seed)
{
    // Of TCP: IPv4, TCP with time stamps and ns-3's point-to-point header, see its SegmentBytes.
    constexpr uint32_t TCP_OVERHEAD_BYTES = 54;
    NetworkModel model;
    if (transport.kind == "tcp")
    {
        model.payloadBytes =
            GetAttributeNumber(transport.type, transport.attributes, "SegmentBytes");
        model.overheadBytes = TCP_OVERHEAD_BYTES;
        model.ackEvery = 2; // delayed acknowledgements, RFC 1122 section 4.2.3.2
        model.ackBytes = TCP_OVERHEAD_BYTES;
    }
    else if (transport.kind == "roce")
    {
        model.payloadBytes = GetAttributeNumber(transport.type, transport.attributes, "Mtu");
        model.overheadBytes = wire::ROCE_HEADER_BYTES + wire::PREAMBLE_BYTES + wire::GAP_BYTES;
        model.ackEvery = GetAttributeNumber(transport.type, transport.attributes, "AckEvery");
        model.ackBytes = wire::ROCE_ACK_BYTES;
        model.pausesNics = GetValue(transport.type, transport.attributes, "CongestionControl") ==
                               NO_CONGESTION_CONTROL &&
                           GetValue(GetFabricTypeId(), fabric, "Pfc") == "true";
        const auto balancing = GetValue(GetFabricTypeId(), fabric, "LoadBalancing");
        model.pathChoice = balancing == "destination" ? PathChoice::Destination
                           : balancing == "hash"      ? PathChoice::Connection
                                                      : PathChoice::Spread;
        const auto hashSeed = GetAttributeNumber(GetFabricTypeId(), fabric, "HashSeed");
        model.hashSeed = hashSeed != 0 ? hashSeed : seed;
    }
    return model;
}

TransportChoice
ReadTransport(const JsonValue& value)
{
    TransportChoice choice;
    choice.kind = DEFAULT_TRANSPORT_KIND;
    if (const auto kind = value.Find("kind"))
    {
        choice.kind = kind->AsChoice(GetKindNames(GetTransportKinds()));
    }
    const auto& entry = GetTransport(choice.kind);
    choice.type = entry.type;
    const auto parts = entry.GetParts();
    std::vector<std::string> others{"kind"};
    for (const auto& part : parts)
    {
        others.push_back(part.name);
    }
    choice.attributes = ReadAttributes(value, choice.type, others);
    for (const auto& part : parts)
    {
        if (const auto settings = value.Find(part.name))
        {
            if (part.name == AGGREGATION_PART)
            {
                auto aggregation = ReadAggregation(*settings);
                std::ranges::move(aggregation.parts, std::back_inserter(choice.parts));
                choice.renamed = std::move(aggregation.renamed);
                continue;
            }
            choice.parts.emplace_back(part.name, ReadAttributes(*settings, part.type, {}));
        }
    }
    return choice;
}

} // namespace ns3::gradsync
