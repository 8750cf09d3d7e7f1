// SPDX-License-Identifier: GPL-2.0-only
#include "oracles/oracle-run.h"
#include "oracles/oracle-table.h"
#include "support/picosecond-clock.h"

#include "ns3/auto-comparison.h"
#include "ns3/auto-planner.h"
#include "ns3/job-planner.h"
#include "ns3/plan-builder.h"
#include "ns3/plan-verifier.h"
#include "ns3/scenario-reader.h"
#include "ns3/scenario-runner.h"
#include "ns3/spine-leaf-topology.h"

#include <gmock/gmock.h>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t BYTE_PER_US = 8'000'000; //!< in bits per second

/// Packets of 400 bytes with headers of 100; an acknowledgement of 130 for each three.
constexpr NetworkModel PACKETS{400, 100, 3, 130};

class PlanEstimatorTest : public testing::Test
{
  protected:
    static void SetUpTestSuite()
    {
        tests::UsePicoseconds();
    }

    /// Hosts at one switch by links of a byte a microsecond and 5 us; the last one by `lastRate`.
    static Topology MakeStar(uint32_t hosts, uint64_t lastRate = BYTE_PER_US)
    {
        Topology topology;
        const auto hub = topology.AddNode("hub", NodeKind::Switch, 1);
        for (uint32_t i = 0; i < hosts; ++i)
        {
            const auto host = topology.AddNode(fmt::format("h{}", i), NodeKind::Host, 0);
            topology.AddLink(host,
                             hub,
                             DataRate(i + 1 < hosts ? BYTE_PER_US : lastRate),
                             MicroSeconds(5),
                             LinkKind::Host);
        }
        return topology;
    }

    static PlanBuilder MakeBuilder(uint32_t ranks, uint64_t chunkBytes, uint32_t chunks)
    {
        return {ranks, ranks, ChunkLayout::Even(chunkBytes * chunks, chunks, 4)};
    }

    static std::vector<uint32_t> CountEndpoints(uint32_t ranks)
    {
        std::vector<uint32_t> endpoints(ranks);
        std::iota(endpoints.begin(), endpoints.end(), 0U);
        return endpoints;
    }

    static double EstimateUs(const Topology& topology, const NetworkModel& model, const Plan& plan)
    {
        const auto endpoints = CountEndpoints(plan.GetRankCount());
        return PlanEstimator(topology, model).Estimate({plan, endpoints}).value_or(0.0) * 1e6;
    }
};

TEST_F(PlanEstimatorTest, TakesTheTimesOfTheOraclesWithoutPackets)
{
    for (const auto& oracle : oracles::GetAllOracles())
    {
        SCOPED_TRACE(oracle.name);
        const auto scale = oracles::MakeExactScale(oracle.workers);
        const auto plan = oracles::BuildOraclePlan(oracle, scale.gradientBytes);
        const auto hosts = plan->GetRankCount() / oracle.racks;
        const auto network = oracles::MakeRackNetwork(
            oracle.racks,
            hosts,
            {DataRate(scale.hostBitsPerSecond),
             DataRate(scale.hostBitsPerSecond * hosts / oracle.oversubscription),
             scale.delay});
        const auto endpoints = CountEndpoints(plan->GetRankCount());
        PlanEstimator estimator(*network.topology, {});
        const auto tau = 8.0 * static_cast<double>(scale.gradientBytes) /
                         static_cast<double>(scale.hostBitsPerSecond);
        const auto expected = oracle.time.GetValue();
        EXPECT_NEAR(estimator.Estimate({*plan, endpoints}).value() / tau,
                    expected,
                    1e-8 * expected);
        EXPECT_LE(estimator.GetLowerBound({*plan, endpoints}) / tau, expected * (1 + 1e-9));
        // It stops when it takes as long as the limit.
        EXPECT_FALSE(estimator.Estimate({*plan, endpoints}, 0.9 * expected * tau));
    }
}

TEST_F(PlanEstimatorTest, CountsHeadersDelaysAndTheForwardingOfAPacket)
{
    const auto topology = MakeStar(2);
    auto builder = MakeBuilder(2, 1000, 1);
    builder.AddCopy(0, 1, 0, 1);
    const auto plan = builder.Build();
    // 1000 bytes in 3 packets: 1300 on the first link; the last full one of 500 on the second; 2
    // x 5.
    EXPECT_NEAR(EstimateUs(topology, PACKETS, plan), 1300 + 500 + 10, 1e-6);
    const auto endpoints = CountEndpoints(2);
    EXPECT_NEAR(PlanEstimator(topology, PACKETS).GetLowerBound({plan, endpoints}), 1810e-6, 1e-12);
}

TEST_F(PlanEstimatorTest, CountsAcknowledgementsWhereTheyMeetData)
{
    const auto topology = MakeStar(2);
    auto builder = MakeBuilder(2, 1000, 2);
    builder.AddCopy(0, 1, 0, 1);
    builder.AddCopy(1, 0, 1, 1);
    // An acknowledgement of 130 bytes for 1300 of data: each link carries 1.1 times the data.
    EXPECT_NEAR(EstimateUs(topology, PACKETS, builder.Build()), 1300 * 1.1 + 500 + 10, 1e-6);
}

TEST_F(PlanEstimatorTest, AddsOneMessageAfterTheOther)
{
    const auto topology = MakeStar(3);
    auto builder = MakeBuilder(3, 1000, 1);
    builder.AddReduce(1, 0, 0, 1);
    builder.AddReduce(2, 0, 0, 1);
    const auto plan = builder.Build();
    const auto endpoints = CountEndpoints(3);
    // Both arrive at 2000 us over the link that they share, and are added in 500 us each; 2 x 5.
    EXPECT_NEAR(PlanEstimator(topology, {}).Estimate({plan, endpoints, 0.5e-6}).value(),
                (2000 + 10 + 2 * 500) * 1e-6,
                1e-12);
}

TEST_F(PlanEstimatorTest, IsHalfwayBetweenFairConnectionsAndNicsThatPauseAsAWhole)
{
    const auto topology = MakeStar(4, BYTE_PER_US / 4);
    auto builder = MakeBuilder(4, 1000, 5);
    const auto fast = builder.AddCopy(0, 1, 0, 1);
    builder.AddCopy(0, 3, 0, 1);
    const auto next = builder.AddCopy(1, 2, 1, 4);
    builder.AddEdge(fast, next);
    const auto plan = builder.Build();
    // Fair: the slow link leaves 3/4 to the other, 1000 / (3/4) + 10, then 4000 + 10.
    const auto fair = 4000.0 / 3 + 10 + 4000 + 10;
    EXPECT_NEAR(EstimateUs(topology, {}, plan), fair, 1e-5);
    // Paused: both at 1/4.
    const auto paused = 4000.0 + 10 + 4000 + 10;
    NetworkModel model;
    model.pausesNics = true;
    EXPECT_NEAR(EstimateUs(topology, model, plan), (fair + paused) / 2, 1e-5);
}

TEST_F(PlanEstimatorTest, LeavesANicToOneConnectionAfterTheOtherWherePacketsAreFew)
{
    const auto topology = MakeStar(3);
    auto builder = MakeBuilder(3, 400, 2);
    const auto first = builder.AddCopy(0, 1, 0, 1);
    builder.AddCopy(0, 2, 1, 1);
    const auto back = builder.AddCopy(1, 0, 0, 1);
    builder.AddEdge(first, back);
    // One packet each: the first is through after 500, not 1000, and the answer 500 + 500 later.
    EXPECT_NEAR(EstimateUs(topology, {400, 100}, builder.Build()), 2 * (500 + 500 + 10), 1e-5);
}

TEST_F(PlanEstimatorTest, FollowsThePathsThatTheNetworkChooses)
{
    SpineLeafOptions options;
    options.spines = 2;
    options.leaves = 2;
    options.hostsPerLeaf = 3;
    options.hostLink = {DataRate(BYTE_PER_US), Time(0)};
    options.fabricLink = {DataRate(BYTE_PER_US), Time(0)};
    const auto topology = MakeSpineLeafTopology(options);
    auto builder = MakeBuilder(6, 1000, 1);
    builder.AddCopy(0, 3, 0, 1);
    builder.AddCopy(1, 5, 0, 1);
    const auto plan = builder.Build();
    NetworkModel model;
    EXPECT_NEAR(EstimateUs(topology, model, plan), 1000, 1e-6);
    // D-mod-k sends both to spine 1, the destinations being odd: they share its links.
    model.pathChoice = PathChoice::Destination;
    EXPECT_NEAR(EstimateUs(topology, model, plan), 2000, 1e-6);
}

AutoRequest
MakeAutoRequest(uint32_t workers, uint32_t racks, double oversubscription, uint64_t bytes)
{
    AutoRequest request;
    request.exchange.workers = workers;
    request.exchange.gradientBytes = bytes;
    request.exchange.groups = oracles::MakeRackGroups(racks, workers / racks, oversubscription);
    request.endpointOf.resize(workers);
    std::iota(request.endpointOf.begin(), request.endpointOf.end(), 0U);
    return request;
}

TEST(AutoPlanner, MeetsTheBoundWhereASchemeDoes)
{
    // w8 r2 o4: RAT over all levels takes 7/4 in 4 pieces, and so does the ring: 2(w-1)/w.
    const auto network =
        oracles::MakeRackNetwork(2, 4, {DataRate(BYTE_PER_US), DataRate(BYTE_PER_US), Time(0)});
    const uint64_t bytes = uint64_t{8} * 16 * 3 * 5 * 7 * 4;
    const auto request = MakeAutoRequest(8, 2, 4.0, bytes);
    const auto ranking = AutoPlanner(*network.topology, {}).Rank(request);
    EXPECT_NEAR(ranking.front().estimateSeconds.value(),
                1.75e-6 * static_cast<double>(bytes),
                1e-12 * static_cast<double>(bytes));
    const auto plan = AutoPlanner::Build(request, ranking.front());
    EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
}

TEST(AutoPlanner, RanksEveryAllReduceOfWorkersAloneTheSameWayEachTime)
{
    const auto network = oracles::MakeRackNetwork(
        2,
        4,
        {DataRate(BYTE_PER_US), DataRate(BYTE_PER_US / 2), MicroSeconds(50)});
    const auto request = MakeAutoRequest(8, 2, 8.0, 10'000);
    const auto ranking = AutoPlanner(*network.topology, PACKETS).Rank(request);
    PlanEstimator estimator(*network.topology, PACKETS);
    std::set<std::string> schemes;
    auto last = 0.0;
    for (const auto& candidate : ranking)
    {
        schemes.insert(candidate.scheme->name);
        EXPECT_EQ(candidate.scheme->countServers(candidate.parameters), 0U);
        EXPECT_TRUE(AutoPlanner::Build(request, candidate).GetCollective().IsAllReduce());
        if (candidate.estimateSeconds)
        {
            EXPECT_GE(*candidate.estimateSeconds, candidate.boundSeconds * (1 - 1e-9));
            EXPECT_GE(*candidate.estimateSeconds, last);
            last = *candidate.estimateSeconds;
        }
        else
        {
            // Left out or given up, because it is not better.
            const auto plan = AutoPlanner::Build(request, candidate);
            EXPECT_GE(estimator.Estimate({plan, request.endpointOf}).value(),
                      ranking.front().GetSeconds() * (1 - 1e-9))
                << candidate.Describe();
        }
    }
    EXPECT_THAT(schemes, testing::IsSupersetOf({"ring", "ps", "rat", "k-nomial", "ps-ring"}));
    EXPECT_THAT(schemes, testing::Not(testing::Contains("parameter-hub")));
    const auto again = AutoPlanner(*network.topology, PACKETS).Rank(request);
    ASSERT_EQ(again.size(), ranking.size());
    for (size_t i = 0; i < again.size(); ++i)
    {
        EXPECT_EQ(again[i].Describe(), ranking[i].Describe());
    }
}

ResolvedRun
MakeRun(const std::string& topology, const std::string& gradient)
{
    const auto text = fmt::format(R"({{"topology": {}, "scheme": "auto",
        "fabric": {{"loadBalancing": "destination"}}, "job": {{"gradient": "{}"}}}})",
                                  topology,
                                  gradient);
    return ResolveRun(ParseScenario(text, "auto.json", {}), 0);
}

constexpr const char* RACKS = R"({"kind": "spine-leaf", "spines": 2, "leaves": 2,
    "hostsPerLeaf": 3, "oversubscription": 3, "hostLink": {"rate": "40Gbps", "delay": "1us"}})";

TEST(AutoScheme, RunsAsTheSchemeThatItChose)
{
    auto run = MakeRun(RACKS, "300kB");
    const auto result = RunScenario(run);
    ASSERT_TRUE(result.summary.finished) << result.summary.failure;
    const auto choice = RankSchemes(run.jobs[0], *run.topology).front();
    EXPECT_EQ(result.summary.autoChoice, choice.Describe());
    EXPECT_EQ(result.summary.autoEstimateSeconds, choice.estimateSeconds.value());
    run.jobs[0].scheme = {choice.scheme, choice.parameters};
    const auto explicitly = RunScenario(run);
    EXPECT_EQ(result.summary.meanIctPs, explicitly.summary.meanIctPs);
    EXPECT_EQ(explicitly.summary.autoChoice, "");
}

/// The slice of the study in doc/auto.rst that is run in CI.
TEST(AutoScheme, TakesAtMostFivePercentLongerThanTheBestCandidate)
{
    const std::vector<std::pair<std::string, std::string>> cases = {
        {RACKS, "64kB"},
        {RACKS, "1MB"},
        {R"({"kind": "star", "hosts": 5, "hostLink": {"rate": "10Gbps", "delay": "10us"}})",
         "256kB"}};
    for (const auto& [topology, gradient] : cases)
    {
        SCOPED_TRACE(topology + gradient);
        const auto comparison = CompareAuto(MakeRun(topology, gradient));
        EXPECT_GE(comparison.GetRatio(), 1.0);
        EXPECT_LE(comparison.GetRatio(), 1.05) << comparison.GetBest().candidate;
        const auto copy = ToAutoComparison(ToJson(comparison));
        EXPECT_EQ(copy.GetRatio(), comparison.GetRatio());
        EXPECT_EQ(copy.entries.size(), comparison.entries.size());
    }
}

} // namespace
} // namespace ns3::gradsync
