// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRANSPORT_REGISTRY_H
#define GRADSYNC_TRANSPORT_REGISTRY_H

#include "ns3/aggregation-reader.h"
#include "ns3/attribute-reader.h"
#include "ns3/fault-spec.h"
#include "ns3/network-model.h"
#include "ns3/transport.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// A part of a transport with Attributes of its own: its key, and the type that has them.
struct TransportPart
{
    std::string name;
    TypeId type;
};

/// A transport that scenarios can name, and what it says that it can.
struct TransportEntry
{
    std::string kind;
    std::string summary; //!< one line
    TypeId type;
    bool hasPackets{false};
    bool hasHostFaults{false};
    bool hasFabric{false};

    bool Simulates(FaultKind kind) const;
    /// In the order in which they are read.
    std::vector<TransportPart> GetParts() const;
};

/// A transport and its Attributes, as a scenario chose them.
struct TransportChoice
{
    std::string kind;
    TypeId type;
    AttributeSettings attributes;
    std::vector<std::pair<std::string, AttributeSettings>> parts; //!< by name of the part
    std::vector<RenamedKey> renamed; //!< keys that were read under their old names
};

/// The transport of a scenario that names none.
inline constexpr const char* DEFAULT_TRANSPORT_KIND = "roce";

/// All transports, sorted by kind.
const std::vector<TransportEntry>& GetTransports();

/// The transport of that kind, which must exist.
const TransportEntry& GetTransport(std::string_view kind);

/// All transports as kinds: their Attributes, and their parts as objects.
std::span<const KindSpec> GetTransportKinds();

/// The type whose Attributes `fabric` sets.
TypeId GetFabricTypeId();

/// The types of ns-3 that the user names, with their Attributes, as the scenario has them; these
/// do not check their Attributes but abort the program. Empty: none.
std::string GetForeignTypes(const TransportChoice& choice);

/// What the estimates of the scheme `auto` have to know. \param fabric settings of the fabric
NetworkModel GetNetworkModel(const TransportChoice& transport,
                             const AttributeSettings& fabric,
                             uint32_t seed);

/// Reads `{"kind": "fluid", ...}`. \throws ScenarioError
TransportChoice ReadTransport(const JsonValue& value);

} // namespace ns3::gradsync

#endif // GRADSYNC_TRANSPORT_REGISTRY_H
