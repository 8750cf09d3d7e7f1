// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fidelity-reader.h"

#include "ns3/inner-networks.h"
#include "ns3/parameter-reader.h"

#include <fmt/format.h>
#include <set>
#include <string>

namespace ns3::gradsync
{

const std::vector<ParameterSpec>&
GetFidelityParameters()
{
    static const std::vector<ParameterSpec> specs{
        {"server",
         std::string("packets"),
         "links inside servers by which nothing leaves them, as to an NVSwitch: doc/fluid.rst",
         {"packets", "fluid"}}};
    return specs;
}

bool
ReadFidelity(const JsonValue& value, const Topology& topology, const TransportEntry& transport)
{
    const auto parameters = ReadParameters(value, GetFidelityParameters());
    if (parameters.Get<std::string>("server") != "fluid")
    {
        return false;
    }
    const auto server = value.Find("server");
    if (!transport.hasFabric)
    {
        server->FailWith(fmt::format("it goes with packets between servers, which the transport {} "
                                     "does not send over the fabric (roce does)",
                                     transport.kind));
    }
    if (FindInnerNetworks(topology).empty())
    {
        server->FailWith("no server of this network has links that only messages inside it use, as "
                         "to an NVSwitch, and that could run as a fluid");
    }
    return true;
}

void
CheckFluidFaults(const JsonValue& list,
                 const std::vector<FaultSpec>& faults,
                 const Topology& topology)
{
    std::set<LinkId> links;
    for (const auto& inner : FindInnerNetworks(topology))
    {
        links.insert(inner.links.begin(), inner.links.end());
    }
    const auto check = [&](LinkId id) {
        if (links.contains(id))
        {
            const auto& link = topology.GetLinks()[id];
            list.FailWith(fmt::format("link {}-{} runs as a fluid (fidelity.server), of which "
                                      "nothing goes wrong",
                                      topology.GetNodes()[link.a].name,
                                      topology.GetNodes()[link.b].name));
        }
    };
    for (const auto& fault : faults)
    {
        for (const auto target : fault.pool)
        {
            if (GetTarget(fault.kind) == FaultTarget::Link)
            {
                check(target);
            }
            else if (fault.kind == FaultKind::SwitchDown)
            {
                for (const auto& port : topology.GetPorts(target))
                {
                    check(port.link);
                }
            }
        }
    }
}

} // namespace ns3::gradsync
