// SPDX-License-Identifier: GPL-2.0-only
#include "scenario/chaos-scenarios.h"

#include "support/draw.h"

#include "ns3/fault-kinds.h"
#include "ns3/parameter-reader.h"
#include "ns3/scheme.h"

#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

namespace ns3::gradsync::tests
{

namespace
{

/// Draws the parts of a scenario. Fixed algorithms, so that a seed means the same everywhere.
class Dice : public Draw
{
  public:
    using Draw::Draw;

    const std::string& Of(const std::vector<std::string>& choices)
    {
        return choices[Between(0, static_cast<uint32_t>(choices.size()) - 1)];
    }

    std::string Time(uint32_t lowUs, uint32_t highUs)
    {
        return fmt::format("{}us", Between(lowUs, highUs));
    }
};

Json
DrawTopology(Dice& dice)
{
    Json topology;
    const Json link{{"rate", "10Gbps"}, {"delay", dice.Time(0, 20)}};
    if (dice.IsOneIn(4))
    {
        return {{"kind", "star"}, {"hosts", dice.Between(2, 12)}, {"hostLink", link}};
    }
    if (dice.IsOneIn(5))
    {
        return {{"kind", "fat-tree"},
                {"k", 4},
                {"hostLink", link},
                {"leafUplink", link},
                {"aggregationUplink", link}};
    }
    return {{"kind", "spine-leaf"},
            {"spines", dice.Between(1, 3)},
            {"leaves", dice.Between(2, 4)},
            {"hostsPerLeaf", dice.Between(1, 4)},
            {"hostLink", link},
            {"fabricLink", link}};
}

Json
DrawFault(Dice& dice, bool packets, bool onTcp)
{
    std::vector<std::string> kinds = GetKindNames(GetFaultKinds());
    // Refused on tcp.
    std::erase_if(kinds, [onTcp](const auto& kind) {
        return onTcp && (kind == "host-pause-send" || kind == "host-crash");
    });
    const auto& kind = dice.Of(kinds);
    Json fault{{"kind", kind}, {"start", dice.Time(0, 1000)}, {"random", 1}};
    if (kind.starts_with("link") || kind == "flood")
    {
        fault["at"] = dice.IsOneIn(2) ? "leaf0" : "host1";
    }
    if (kind == "link-down" || kind == "switch-down" || kind == "host-crash")
    {
        fault["detectionDelay"] = dice.Time(0, 500);
    }
    if (kind == "link-degraded")
    {
        fault["rateShare"] = dice.Between(1, 100) / 100.0;
        fault["extraDelay"] = dice.Time(0, 100);
        if (packets && dice.IsOneIn(2))
        {
            fault["loss"] = {{"goodToBad", 0.01}, {"badToGood", dice.Between(2, 10) / 10.0}};
        }
    }
    if (kind == "straggler")
    {
        fault["slowdown"] = {{"distribution", "pareto"}, {"minimum", 1}, {"shape", 2}};
    }
    if (kind == "flood")
    {
        fault["rate"] = fmt::format("{}Mbps", dice.Between(10, 12'000));
    }
    if (dice.IsOneIn(6))
    {
        fault.erase("random");
        fault["mtbf"] = dice.Time(200, 5000);
        fault["mttr"] = dice.Time(10, 2000);
    }
    else if (!dice.IsOneIn(8)) // else to the end of the run
    {
        const auto every = dice.Between(50, 3000);
        fault["every"] = fmt::format("{}us", every);
        fault["duration"] = dice.Time(1, every);
        if (dice.IsOneIn(2))
        {
            fault["count"] = dice.Between(1, 20);
        }
    }
    return fault;
}

/// Schemes whose switches aggregate, with the section of `transport.aggregation` that has the
/// timeout of their workers; of those with the section `slot` that of their switches.
const std::map<std::string, std::string>&
GetSwitchSchemes()
{
    static const std::map<std::string, std::string> sections{{"switchml", "slot"},
                                                             {"passing", "slot"},
                                                             {"libra", "slot"},
                                                             {"atp", "slot"},
                                                             {"netreduce", "slot"},
                                                             {"sharp", "sharp"},
                                                             {"flare", "flare"},
                                                             {"nvls", "nvls"}};
    return sections;
}

} // namespace

Json
DrawScenario(uint32_t seed)
{
    Dice dice(seed);
    Json scenario{{"seed", seed + 1}, {"topology", DrawTopology(dice)}};
    const bool packets = !dice.IsOneIn(4);
    scenario["transport"] = {{"kind", packets ? "roce" : "fluid"}};
    if (packets)
    {
        scenario["transport"]["mtu"] = dice.IsOneIn(2) ? "1024B" : "4096B";
        scenario["transport"]["timeout"] = dice.Time(300, 2000);
        scenario["transport"]["congestionControl"] =
            dice.Of({"none", "none", "dcqcn", "dctcp", "hpcc", "swift", "timely"});
        scenario["transport"]["windowPackets"] = dice.IsOneIn(2) ? 0 : dice.Between(1, 64);
        scenario["fabric"] = {{"pfc", !dice.IsOneIn(3)},
                              {"bufferBytes", fmt::format("{}kB", dice.Between(600, 3000))},
                              {"lossRate", dice.IsOneIn(4) ? 0.01 : 0.0}};
        // No draws of their own, so that seeds mean what they meant; small networks never switch
        // these on.
        if (seed % 2 == 0)
        {
            scenario["fabric"]["prefetchPorts"] = 0;
        }
        if (seed % 3 == 0)
        {
            scenario["transport"]["keptQueuePairs"] = 0;
        }
    }
    std::vector<std::string> schemes;
    for (const auto& scheme : GetSchemes())
    {
        // Switches aggregate only where there are packets.
        if (packets || !GetSwitchSchemes().contains(scheme.name))
        {
            schemes.push_back(scheme.name);
        }
    }
    scenario["scheme"] = {{"kind", dice.Of(schemes)}};
    const std::string kind = scenario["scheme"]["kind"];
    if (const auto section = GetSwitchSchemes().find(kind); section != GetSwitchSchemes().end())
    {
        scenario["transport"]["aggregation"] = {{"values", "real"},
                                                {section->second, {{"timeout", "500us"}}}};
        scenario["scheme"]["fallback"] = dice.Of({"ps", "ring", "none"});
        if (kind == "netreduce" && scenario["transport"]["congestionControl"] == "hpcc")
        {
            scenario["transport"]["congestionControl"] = "swift"; // no room for telemetry
        }
    }
    if (kind == "federated")
    {
        scenario["scheme"]["closing"] = dice.Of({"all", "minimum"});
        scenario["scheme"]["roundTimeout"] = dice.Time(300, 5000);
    }
    scenario["job"] = {{"gradient", fmt::format("{}B", 4 * dice.Between(100, 100'000))},
                       {"iterations", dice.Between(1, 3)},
                       {"compute", dice.Time(0, 300)},
                       {"reaction", dice.IsOneIn(3) ? "none" : "replan"},
                       {"timeout", "100ms"}};
    scenario["faults"] = Json::array();
    for (auto faults = dice.Between(0, 4); faults > 0; --faults)
    {
        scenario["faults"].push_back(DrawFault(dice, packets, false));
    }
    return scenario;
}

Json
DrawTcpScenario(uint32_t seed)
{
    auto scenario = DrawScenario(seed);
    Dice dice(seed + 1'000'000);
    scenario["transport"] = {{"kind", "tcp"},
                             {"congestionOps", dice.Of({"TcpCubic", "TcpLinuxReno", "TcpDctcp"})},
                             {"minRto", dice.Time(500, 10'000)},
                             {"retries", dice.Between(2, 8)},
                             {"lossRate", dice.IsOneIn(4) ? 0.01 : 0.0}};
    scenario.erase("fabric");
    scenario["job"]["gradient"] = fmt::format("{}B", 4 * dice.Between(100, 20'000));
    scenario["faults"] = Json::array();
    for (auto faults = dice.Between(0, 4); faults > 0; --faults)
    {
        scenario["faults"].push_back(DrawFault(dice, true, true));
    }
    return scenario;
}

} // namespace ns3::gradsync::tests
