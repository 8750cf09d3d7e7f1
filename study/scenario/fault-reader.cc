// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fault-reader.h"

#include "ns3/fault-kinds.h"
#include "ns3/fault-maker.h"
#include "ns3/fault-trace-reader.h"
#include "ns3/parameter-reader.h"
#include "ns3/time-range.h"
#include "ns3/units.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

constexpr size_t MAX_FAULTS = 10'000;

/// A link keeps the rate that every link has at least.
void
CheckRateShare(const JsonValue& value, const FaultSpec& fault, const Topology& topology)
{
    const auto share = value.Find("rateShare");
    if (fault.kind != FaultKind::LinkDegraded || !share)
    {
        return;
    }
    for (const auto id : fault.pool)
    {
        const auto& link = topology.GetLinks()[id];
        const auto left = fault.degraded.rateShare * static_cast<double>(link.rate.GetBitRate());
        if (left < static_cast<double>(MIN_LINK_BIT_RATE))
        {
            share->FailWith(fmt::format("of the {} of link {}-{} it leaves {:.6g} b/s, expected {} "
                                        "at least",
                                        FormatRate(link.rate),
                                        topology.GetNodes()[link.a].name,
                                        topology.GetNodes()[link.b].name,
                                        left,
                                        FormatRate(DataRate(MIN_LINK_BIT_RATE))));
        }
    }
}

/// What the network has to be able to.
void
CheckTransport(const JsonValue& value, const FaultSpec& fault, const TransportEntry& transport)
{
    if (fault.degraded.loss.IsLossy() && !transport.hasPackets)
    {
        value.Find("loss")->FailWith(
            fmt::format("the transport {} has no packets that could be lost", transport.kind));
    }
}

void
ReadTargets(const JsonValue& value,
            const Topology& topology,
            const RankRoles& roles,
            FaultSpec& fault)
{
    fault.pool = ReadFaultTargets(value, fault.kind, topology, roles);
    if (fault.pool.empty())
    {
        value.FailWith("the network has nothing that this could happen to");
    }
    const auto names = GetFaultTargetNames(fault.kind);
    const bool isNamed =
        std::ranges::any_of(names, [&](const auto& name) { return value.Find(name).has_value(); });
    if (const auto random = value.Find("random"))
    {
        fault.random = static_cast<uint32_t>(random->AsUnsigned(1, fault.pool.size()));
    }
    else if (!isNamed && fault.meanUp.IsZero())
    {
        value.FailWith(fmt::format("it does not say where, expected \"{}\" or \"random\": a number",
                                   names.front()));
    }
}

FaultSpec
ReadFault(const JsonValue& value,
          const Topology& topology,
          const TransportEntry& transport,
          const RankRoles& roles)
{
    const auto kind = ReadFaultKind(value);
    if (!transport.Simulates(kind))
    {
        value.Find("kind")->FailWith(
            fmt::format("the transport {} does not simulate {}", transport.kind, ToString(kind)));
    }
    const auto& specs = FindKind(GetFaultKinds(), ToString(kind))->parameters;
    const auto parameters = ReadParameters(value, specs, {"kind"});
    auto fault = PlaceParameterErrors(value, [&] { return MakeFault(kind, parameters); });
    CheckTransport(value, fault, transport);
    ReadTargets(value, topology, roles, fault);
    CheckRateShare(value, fault, topology);
    return fault;
}

} // namespace

FaultKind
ReadFaultKind(const JsonValue& value)
{
    return FindFaultKind(ReadKind(value, GetFaultKinds(), "\"link-down\"").name);
}

std::vector<ParameterSpec>
GetTraceParameters()
{
    return {
        Required({"file",
                  std::string("faults.csv"),
                  "a trace in CSV, from the folder of the scenario: doc/faults.rst",
                  {},
                  1}),
        Optional(
            {"rows", SharedShape{"rows"}, "the rows of `file`, put here when a run is resolved"})};
}

std::vector<FaultSpec>
ReadFaults(const JsonValue& list,
           const Topology& topology,
           const TransportEntry& transport,
           const RankRoles& roles)
{
    const auto items = list.GetItems();
    std::vector<FaultSpec> faults;
    for (const auto& item : items)
    {
        const auto rows = item.Find("rows");
        if (!rows)
        {
            faults.push_back(ReadFault(item, topology, transport, roles));
            continue;
        }
        item.CheckKeys(GetKeys(GetTraceParameters()));
        const auto file = item.Require("file", "\"faults.csv\"").AsName();
        for (const auto& row : rows->GetItems())
        {
            const auto line = row.Require("line", "2").AsUnsigned(1, UINT32_MAX);
            const JsonValue named(row.Get(), file, fmt::format("line {}", line));
            const auto fault = MakeFaultOfRow(named, topology);
            faults.push_back(ReadFault(JsonValue(fault, file, fmt::format("line {}", line)),
                                       topology,
                                       transport,
                                       roles));
        }
    }
    if (faults.size() > MAX_FAULTS)
    {
        list.Fail(fmt::format("at most {} faults", MAX_FAULTS));
    }
    return faults;
}

} // namespace ns3::gradsync
