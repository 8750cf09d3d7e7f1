// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/protocol-reader.h"

#include "ns3/parameter-reader.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr const char* NONE = "none";
constexpr const char* BASE = "baseLatency";
constexpr const char* HOP = "hopLatency";
constexpr const char* NETWORK_HOP = "networkHopLatency";
constexpr const char* EFFICIENCY = "efficiency";

constexpr double MAX_LATENCY = 1e12; //!< a second, in picoseconds
constexpr double LEAST_EFFICIENCY = 1e-3;

ParameterSpec
MakeLatency(const char* name, uint64_t picoseconds, const char* help)
{
    const auto value = PicoSeconds(static_cast<int64_t>(picoseconds));
    return {name, value, help, {}, 0, MAX_LATENCY};
}

KindSpec
MakeProtocolKind(const ProtocolInfo& protocol)
{
    const auto& defaults = protocol.defaults;
    return {protocol.name,
            protocol.summary,
            {MakeLatency(BASE,
                         defaults.basePicoseconds,
                         "of each collective, at each rank before its first message"),
             MakeLatency(HOP,
                         defaults.hopPicoseconds,
                         "after each message between ranks of a server, before what waits for it"),
             MakeLatency(NETWORK_HOP, defaults.networkHopPicoseconds, "likewise, between servers"),
             {EFFICIENCY,
              defaults.efficiency,
              "share of payload in what is sent",
              {},
              LEAST_EFFICIENCY,
              1.0}},
            protocol.source};
}

} // namespace

std::span<const KindSpec>
GetProtocolKinds()
{
    static const std::vector<KindSpec> kinds = [] {
        std::vector<KindSpec> list{{NONE, "messages cost their bytes alone", {}, "doc/nccl.rst"}};
        std::ranges::transform(GetProtocols(), std::back_inserter(list), MakeProtocolKind);
        return list;
    }();
    return kinds;
}

std::optional<MessageProtocol>
ReadProtocol(const JsonValue& value)
{
    const auto& kind = ReadKind(value, GetProtocolKinds(), "simple");
    const auto parameters = ReadParameters(value, kind.parameters, {"kind"});
    if (kind.name == NONE)
    {
        return std::nullopt;
    }
    return MessageProtocol{GetPicoseconds(parameters, BASE),
                           GetPicoseconds(parameters, HOP),
                           GetPicoseconds(parameters, NETWORK_HOP),
                           parameters.Get<double>(EFFICIENCY)};
}

} // namespace ns3::gradsync
