// SPDX-License-Identifier: GPL-2.0-only
// The scheme auto where switches can aggregate: what it knows of protocols, how long it takes them
// to take, and what it chooses. Part of scenario-runner-test.
#include "scenario/scenario-runs.h"

#include "ns3/aggregation-pace.h"
#include "ns3/auto-comparison.h"
#include "ns3/job-planner.h"

#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

/// Every protocol that auto can estimate, by the scheme that asks for it.
constexpr const char* ALL_PROTOCOLS = R"({"slot": {}, "netreduce": {}, "sharp": {},
    "nvls": {"window": 16}})";

ResolvedRun
ResolveAggregating(const std::string& topology,
                   const std::string& scheme,
                   const std::string& gradient,
                   const std::vector<ScenarioOverride>& settings = {})
{
    UsePicoseconds();
    const auto text = fmt::format(R"({{"topology": {}, "scheme": {},
        "transport": {{"kind": "roce", "aggregation": {}}},
        "fabric": {{"loadBalancing": "destination"}}, "job": {{"gradient": "{}"}}}})",
                                  topology,
                                  scheme,
                                  ALL_PROTOCOLS,
                                  gradient);
    return ResolveRun(ParseScenario(text, "x.json", settings), 0);
}

std::vector<double>
GetCapacities(const Topology& topology)
{
    std::vector<double> capacities;
    for (const auto& link : topology.GetLinks())
    {
        capacities.insert(capacities.end(), 2, static_cast<double>(link.rate.GetBitRate()) / 8);
    }
    return capacities;
}

/// Wire bytes of each link direction as the loads of the groups of a job say.
std::vector<double>
PredictBytes(const ResolvedRun& run)
{
    const auto& job = run.jobs[0];
    const auto plan = PlanJob(job, *run.topology).plan;
    const auto capacities = GetCapacities(*run.topology);
    const auto loads = job.findAggregations(*plan, job.endpointOf).value();
    std::vector<double> bytes(capacities.size(), 0.0);
    for (OperationId id = 0; id < plan->GetOperations().size(); ++id)
    {
        const auto operation = plan->GetOperations()[id];
        if (!operation.IsAggregate() || plan->GetMembers(id).first != id)
        {
            continue;
        }
        const auto& load = loads.at(operation.stream);
        const auto content = plan->GetBytes(id);
        const auto packets =
            static_cast<double>(AggregationPace(load, capacities).CountPackets(content));
        for (const auto& use : load.uses)
        {
            bytes[use.link] +=
                use.packetBytes * packets + use.contentFactor * static_cast<double>(content);
        }
    }
    return bytes;
}

void
ExpectBytes(const ResolvedRun& run, double tolerance)
{
    const auto expected = PredictBytes(run);
    const auto result = RunScenario(run);
    ASSERT_TRUE(result.summary.finished) << result.summary.failure;
    for (size_t link = 0; link < expected.size(); ++link)
    {
        EXPECT_NEAR(static_cast<double>(result.links[link].wireBytes),
                    expected[link],
                    tolerance * expected[link] + 1e-6)
            << link;
    }
}

constexpr const char* SERVER = R"({"kind": "star", "hosts": 1,
    "hostLink": {"rate": "100Gbps", "delay": "500ns"}, "server": {"accelerators": 8, "nics": 8,
    "sockets": 1, "pcieSwitches": 8, "nvlink": {"rate": "800Gbps", "delay": "100ns"}}})";

/// Racks of any size under spines, some hosts with two accelerators behind one NIC.
std::string
DrawRacks(std::mt19937& dice)
{
    const auto draw = [&dice](int least, int most) {
        return least + static_cast<int>(dice() % static_cast<uint32_t>(most - least + 1));
    };
    // One after the other, as arguments are drawn in another order by each compiler.
    const auto spines = draw(1, 3);
    const auto leaves = draw(1, 4);
    const auto hosts = draw(2, 4);
    const auto rate = 10 * draw(1, 10);
    const auto delay = 500 * draw(1, 4);
    const auto oversubscription = draw(1, 4);
    const bool hasServers = draw(0, 1) == 1;
    return fmt::format(R"({{"kind": "spine-leaf", "spines": {}, "leaves": {}, "hostsPerLeaf": {},
        "hostLink": {{"rate": "{}Gbps", "delay": "{}ns"}}, "oversubscription": {}{}}})",
                       spines,
                       leaves,
                       hosts,
                       rate,
                       delay,
                       oversubscription,
                       hasServers ? R"(, "server": {"accelerators": 2, "nics": 1})" : "");
}

TEST(AggregationLoads, AreWhatLinksCarryAtRandomSizes)
{
    std::mt19937 dice(24);
    for (int i = 0; i < 8; ++i)
    {
        const auto topology = DrawRacks(dice);
        const auto gradient = fmt::format("{}B", 4 * (1 + dice() % 40'000));
        SCOPED_TRACE(topology + gradient);
        for (const auto* scheme :
             {R"("switchml")", R"({"kind": "sharp", "tree": "llt"})", R"({"kind": "sharp"})"})
        {
            SCOPED_TRACE(scheme);
            ExpectBytes(ResolveAggregating(topology, scheme, gradient), 0.0);
        }
        // SwitchML's own packets, which have another header, and exponents ahead of the values.
        ExpectBytes(ResolveAggregating(topology,
                                       R"("switchml")",
                                       gradient,
                                       {{"transport.aggregation.slot.format", "switchml"}}),
                    0.0);
        ExpectBytes(ResolveAggregating(topology,
                                       R"("switchml")",
                                       gradient,
                                       {{"transport.aggregation.values", "float"}}),
                    0.0);
        ExpectBytes(
            ResolveAggregating(SERVER,
                               fmt::format(R"({{"kind": "nvls", "pipelineChunks": {}}})", 1 + i),
                               gradient),
            0.0);
    }
}

TEST(AggregationLoads, CountAcknowledgementsOfNetReduceOfFullMessages)
{
    // A message has 64 packets of 4,096 bytes, 16 of them its header, and 16 acknowledgements.
    const auto gradient = fmt::format("{}B", 5 * (64 * 4096 - 16));
    ExpectBytes(
        ResolveAggregating(R"({"kind": "spine-leaf", "spines": 1, "leaves": 2, "hostsPerLeaf": 2,
                    "hostLink": {"rate": "40Gbps", "delay": "1us"}, "oversubscription": 1})",
                           R"("netreduce")",
                           gradient),
        0.0);
}

double
EstimateSeconds(const ResolvedRun& run)
{
    const auto& job = run.jobs[0];
    const auto plan = PlanJob(job, *run.topology).plan;
    const auto loads = job.findAggregations(*plan, job.endpointOf).value();
    return PlanEstimator(*run.topology, job.network)
        .Estimate({*plan, job.endpointOf, 0.0, loads})
        .value();
}

double
SimulateSeconds(const ResolvedRun& run)
{
    const auto result = RunScenario(run);
    EXPECT_TRUE(result.summary.finished) << result.summary.failure;
    return static_cast<double>(result.summary.meanIctPs) * 1e-12;
}

TEST(AggregationEstimate, IsTheClosedFormWhereNothingElseIsUnderWay)
{
    const std::string star =
        R"({"kind": "star", "hosts": 3, "hostLink": {"rate": "10Gbps", "delay": "1us"}})";
    for (const uint32_t slots : {4, 32, 128})
    {
        for (const uint32_t packets : {1, 3, 4, 5, 99})
        {
            const auto run =
                ResolveAggregating(star,
                                   R"("switchml")",
                                   fmt::format("{}B", 256 * packets),
                                   {{"transport.aggregation.slot.slots", std::to_string(slots)}});
            // 342 bytes at 10 Gb/s. doc/aggregation.rst.
            const double t = 342 * 0.8e-9;
            const double d = 1e-6;
            const double trip = 2 * t + 2 * d;
            const uint32_t rounds = (packets - 1) / slots;
            const uint32_t others = (packets - 1) % slots;
            const double time =
                slots * t >= trip ? (packets + 1) * t + 2 * d : rounds * trip + others * t + trip;
            EXPECT_NEAR(EstimateSeconds(run), time, 1e-12) << slots << ' ' << packets;
            EXPECT_NEAR(SimulateSeconds(run), time, 1e-11) << slots << ' ' << packets;
        }
    }
}

/// doc/auto.rst says this of all candidates.
constexpr double LEAST_RATIO = 0.89;
constexpr double MOST_RATIO = 1.25;
/// And this of parts that are added by several switches, whose trees meet on links.
constexpr double LEAST_RATIO_OF_PARTS = 0.8;
constexpr const char* PARTS = R"({"kind": "passing", "switches": 2})";

TEST(AggregationEstimate, IsAsNearToPacketsAsThoseOfOtherSchemes)
{
    std::mt19937 dice(7);
    const std::vector<std::string> schemes{R"("switchml")",
                                           R"({"kind": "switchml", "pipelineChunks": 4})",
                                           R"("passing")",
                                           PARTS,
                                           R"("netreduce")",
                                           R"("sharp")",
                                           R"({"kind": "sharp", "tree": "llt"})"};
    for (int i = 0; i < 12; ++i)
    {
        const auto topology = DrawRacks(dice);
        const auto gradient = fmt::format("{}kB", 16 * (1 + dice() % 60));
        for (const auto& scheme : schemes)
        {
            SCOPED_TRACE(fmt::format("{} {} {}", topology, gradient, scheme));
            const auto run = ResolveAggregating(topology, scheme, gradient);
            const auto ratio = EstimateSeconds(run) / SimulateSeconds(run);
            EXPECT_GE(ratio, scheme == PARTS ? LEAST_RATIO_OF_PARTS : LEAST_RATIO);
            EXPECT_LE(ratio, MOST_RATIO);
        }
    }
}

TEST(AggregationEstimate, OfNvlsIsFurtherOffWhereGradientsAreSmall)
{
    // Several windows share each link, and packets wait behind each other: doc/auto.rst.
    for (const auto* gradient : {"256kB", "1MB", "8MB"})
    {
        for (const auto* window : {"16", "256"})
        {
            for (const auto* accelerators : {"4", "8"})
            {
                for (const int pieces : {1, 4, 16})
                {
                    SCOPED_TRACE(
                        fmt::format("{} {} {} {}", gradient, window, accelerators, pieces));
                    const auto run = ResolveAggregating(
                        SERVER,
                        fmt::format(R"({{"kind": "nvls", "pipelineChunks": {}}})", pieces),
                        gradient,
                        {{"transport.aggregation.nvls.window", window},
                         {"topology.server.accelerators", accelerators},
                         {"topology.server.nics", accelerators},
                         {"topology.server.pcieSwitches", accelerators}});
                    const auto ratio = EstimateSeconds(run) / SimulateSeconds(run);
                    EXPECT_GE(ratio, 0.8);
                    EXPECT_LE(ratio, MOST_RATIO);
                }
            }
        }
    }
}

constexpr const char* NARROW = R"({"kind": "spine-leaf", "spines": 2, "leaves": 4,
    "hostsPerLeaf": 4, "oversubscription": 8, "hostLink": {"rate": "40Gbps", "delay": "1us"}})";

TEST(AutoAggregation, TakesSwitchesThatAreFasterAndIsAsGoodAsTheBest)
{
    const std::vector<std::pair<std::string, std::string>> cases = {{NARROW, "64kB"},
                                                                    {NARROW, "1MB"}};
    for (const auto& [topology, gradient] : cases)
    {
        SCOPED_TRACE(topology + gradient);
        const auto run = ResolveAggregating(topology, R"("auto")", gradient);
        const auto choice = RankSchemes(run.jobs[0], *run.topology).front();
        EXPECT_FALSE(choice.loads.empty()) << choice.Describe();
        const auto comparison = CompareAuto(run);
        EXPECT_LE(comparison.GetRatio(), 1.05) << comparison.GetBest().candidate;
    }
}

std::vector<std::string>
ListAggregating(const ResolvedRun& run)
{
    std::vector<std::string> names;
    for (const auto& candidate : RankSchemes(run.jobs[0], *run.topology))
    {
        if (!candidate.loads.empty())
        {
            names.push_back(candidate.scheme->name);
        }
    }
    return names;
}

TEST(AutoAggregation, TakesNoSwitchesOfWhichNobodySaysThatTheyCan)
{
    const auto with = [](const std::string& aggregation) {
        return ListAggregating(ResolveAggregating(NARROW,
                                                  R"("auto")",
                                                  "64kB",
                                                  {{"transport.aggregation", aggregation}}));
    };
    EXPECT_TRUE(with("{}").empty());
    EXPECT_TRUE(with(R"({"values": "real"})").empty());
    EXPECT_THAT(with(R"({"slot": {}})"), testing::Contains("switchml"));
    EXPECT_THAT(with(R"({"slot": {}})"), testing::Not(testing::Contains("sharp")));
    EXPECT_THAT(with(R"({"sharp": {}})"), testing::Each("sharp"));
    // Nobody has the memory; switches that take time to add are not estimated.
    EXPECT_TRUE(with(R"({"slot": {}, "sharp": {}, "switchMemoryBytes": "1B"})").empty());
    EXPECT_TRUE(with(R"({"slot": {}, "pipelinePacketRate": 1e9})").empty());
}

TEST(AutoAggregation, GoesOnByItsFallbackWhenSwitchesFail)
{
    const auto run = ResolveAggregating(NARROW,
                                        R"({"kind": "auto", "fallback": "ring"})",
                                        "1MB",
                                        {{"faults",
                                          R"([{"kind": "aggregator-down", "start": "10us",
                                    "switches": ["leaf0", "leaf1", "leaf2", "leaf3", "spine0", "spine1"]}])"}});
    const auto result = RunScenario(run);
    EXPECT_TRUE(result.summary.finished) << result.summary.failure;
    EXPECT_EQ(result.summary.fallbacks, 1U);
}

} // namespace
} // namespace ns3::gradsync
