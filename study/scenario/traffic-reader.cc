// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/traffic-reader.h"

#include "ns3/node-names.h"
#include "ns3/parameter-reader.h"
#include "ns3/traffic-kinds.h"

#include <numeric>

namespace ns3::gradsync
{

namespace
{

std::vector<uint32_t>
ReadHosts(const JsonValue& value, const Topology& topology)
{
    if (const auto list = value.Find("hosts"))
    {
        auto hosts = NodeNames::OfEndpoints(topology).ReadList(*list);
        if (hosts.size() < 2)
        {
            list->Fail("two hosts at least");
        }
        return hosts;
    }
    std::vector<uint32_t> hosts(topology.GetEndpoints().size());
    std::iota(hosts.begin(), hosts.end(), 0);
    if (hosts.size() < 2)
    {
        value.FailWith("the network has a single host");
    }
    return hosts;
}

} // namespace

std::vector<TrafficSpec>
ReadTraffic(const JsonValue& list, const Topology& topology)
{
    std::vector<TrafficSpec> traffic;
    for (const auto& item : list.GetItems())
    {
        const auto& kind = ReadKind(item, GetTrafficKinds(), "\"poisson\"");
        const auto parameters = ReadParameters(item, kind.parameters, {"kind"});
        const auto hosts = ReadHosts(item, topology);
        traffic.push_back(PlaceParameterErrors(item, [&] {
            return MakeTraffic(kind.name, parameters, hosts, topology);
        }));
    }
    return traffic;
}

} // namespace ns3::gradsync
