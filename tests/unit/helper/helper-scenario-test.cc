// SPDX-License-Identifier: GPL-2.0-only
// What the helpers build is what the scenario program builds: the same times to the picosecond, on
// networks whose packets queue, are marked, paced and lost.
#include "scenario/scenario-runs.h"
#include "unit/helper/helper-fixture.h"

#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/exchange-helper.h"
#include "ns3/fabric-helper.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/spine-leaf-topology.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace ns3::gradsync::tests
{
namespace
{

/// Two racks of four hosts, 2:1.
class HelperScenarioTest : public HelperFixture
{
  protected:
    static std::vector<Time> RunScenarioFile(const std::string& transport,
                                             const std::string& scheme,
                                             const std::string& fabric = "{}")
    {
        const auto text = fmt::format(
            R"({{"topology": {{"kind": "spine-leaf", "spines": 2, "leaves": 2, "hostsPerLeaf": 4,
                               "oversubscription": 2,
                               "hostLink": {{"rate": "10Gbps", "delay": "1us"}},
                               "fabricLink": {{"delay": "2us"}}}},
                 "transport": {}, "fabric": {}, "scheme": {}, "seed": 3,
                 "job": {{"gradient": "1MB", "iterations": 2, "compute": "50us"}}}})",
            transport,
            fabric,
            scheme);
        std::vector<Time> ends;
        for (const auto& iteration : Simulate({}, text).iterations)
        {
            ends.push_back(iteration.end);
        }
        EXPECT_EQ(ends.size(), 2U);
        return ends;
    }

    static std::vector<Time> RunHelpers(const FabricHelper& fabric, ExchangeHelper exchange)
    {
        FabricHelper::UseFastScheduler(); // as scenarios do: it knows the order of one instant
        RngSeedManager::SetSeed(3);
        RngSeedManager::SetRun(1);
        SpineLeafOptions options;
        options.spines = 2;
        options.leaves = 2;
        options.hostsPerLeaf = 4;
        options.hostLink = {DataRate("10Gbps"), MicroSeconds(1)};
        options.fabricLink.delay = MicroSeconds(2);
        options.oversubscription = 2;
        const auto hosts = fabric.Install(MakeSpineLeafTopology(options));
        exchange.SetAttribute("GradientBytes", UintegerValue(1'000'000));
        exchange.SetAttribute("Iterations", UintegerValue(2));
        exchange.SetAttribute("ComputeTime", TimeValue(MicroSeconds(50)));
        exchange.Install(hosts);
        const auto ends = RunToEnd(hosts);
        Simulator::Destroy(); // the scenario that is compared may run after it
        return ends;
    }
};

TEST_F(HelperScenarioTest, ARingOverRoceTakesTheSameTime)
{
    EXPECT_EQ(RunHelpers(FabricHelper(), ExchangeHelper("ring", "pipelineChunks", 4)),
              RunScenarioFile(R"("roce")", R"({"kind": "ring", "pipelineChunks": 4})"));
}

TEST_F(HelperScenarioTest, RatWithCongestionControlAndLossTakesTheSameTime)
{
    FabricHelper fabric;
    fabric.SetTransportAttribute("Mtu", UintegerValue(1000));
    fabric.SetTransportAttribute("Recovery", StringValue("selective-repeat"));
    fabric.SetCongestionControl("dcqcn", "MinRate", DataRateValue(DataRate("50Mbps")));
    fabric.SetFabricAttribute("LossRate", DoubleValue(1e-3));
    fabric.SetFabricAttribute("LoadBalancing", StringValue("spray"));
    EXPECT_EQ(RunHelpers(fabric, ExchangeHelper("rat", "pipelineChunks", 8)),
              RunScenarioFile(R"({"kind": "roce", "mtu": "1000B", "recovery": "selective-repeat",
                                  "congestionControl": "dcqcn", "dcqcn": {"minRate": "50Mbps"}})",
                              R"({"kind": "rat", "pipelineChunks": 8})",
                              R"({"lossRate": 1e-3, "loadBalancing": "spray"})"));
}

TEST_F(HelperScenarioTest, AggregationByAtpTakesTheSameTime)
{
    AggregationHelper aggregation;
    aggregation.SetDriverAttribute("atp", "Window", UintegerValue(40));
    FabricHelper fabric;
    fabric.SetAggregation(aggregation);
    EXPECT_EQ(
        RunHelpers(fabric, ExchangeHelper("atp")),
        RunScenarioFile(R"({"kind": "roce", "aggregation": {"atp": {"window": 40}}})", R"("atp")"));
}

TEST_F(HelperScenarioTest, TcpTakesTheSameTime)
{
    FabricHelper fabric("tcp");
    fabric.SetTransportAttribute("CongestionOps", StringValue("ns3::TcpCubic"));
    EXPECT_EQ(RunHelpers(fabric, ExchangeHelper("ps")),
              RunScenarioFile(R"({"kind": "tcp", "congestionOps": "ns3::TcpCubic"})", R"("ps")"));
}

} // namespace
} // namespace ns3::gradsync::tests
