// SPDX-License-Identifier: GPL-2.0-only
// Jobs whose scheme has a name of NCCL, from scenario to result.
#include "scenario/scenario-runs.h"

#include "ns3/job-planner.h"

#include <cstdint>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::AllOf;
using testing::HasSubstr;

/// Servers of four GPUs on an NVSwitch of 8 Gb/s each, with a NIC of 1 Gb/s for each.
std::vector<ScenarioOverride>
MakeNcclRun(int servers, const std::string& scheme, const std::string& job)
{
    const auto topology = fmt::format(
        R"({{"kind": "star", "hosts": {}, "hostLink": {{"rate": "1Gbps", "delay": "1us"}},
             "server": {{"accelerators": 4, "nics": 4, "pcieSwitches": 4,
                         "pcie": {{"rate": "2Gbps", "delay": "100ns"}},
                         "upi": {{"rate": "2Gbps", "delay": "100ns"}},
                         "nvlink": {{"rate": "8Gbps", "delay": "100ns"}}}}}})",
        servers);
    return {{"topology", topology}, {"scheme", scheme}, {"job", job}};
}

int64_t
TakeNccl(int servers, const std::string& scheme, const std::string& job)
{
    return Simulate(MakeNcclRun(servers, scheme, job)).summary.meanIctPs;
}

TEST(NcclRuns, NamesStandForSchemesOfTheirParameters)
{
    const std::string job = R"({"gradient": "480kB", "protocol": "ll128"})";
    EXPECT_EQ(TakeNccl(1, "nccl:ring", job),
              TakeNccl(1, R"({"kind": "multi-ring", "rings": 1})", job));
    EXPECT_EQ(TakeNccl(3, "nccl:ring", job),
              TakeNccl(3, R"({"kind": "multi-ring", "rings": 4, "order": "rails"})", job));
    EXPECT_EQ(TakeNccl(2, R"({"kind": "nccl:ring", "channels": 2, "pipelineChunks": 3})", job),
              TakeNccl(2,
                       R"({"kind": "multi-ring", "rings": 2, "order": "rails",
                           "pipelineChunks": 3})",
                       job));
    EXPECT_EQ(
        TakeNccl(1, "nccl:tree", job),
        TakeNccl(1, R"({"kind": "double-binary-tree", "chains": true, "groupSize": 4})", job));
    EXPECT_EQ(TakeNccl(3, "nccl:tree", job),
              TakeNccl(3, R"({"kind": "double-binary-tree", "chains": true, "channels": 4})", job));
}

// The chain of four and back, in one piece of each half: the two halves share the links, so that a
// hop takes the whole buffer, 1 ms of 1 MB at 1 GB/s, and 200 ns of two links; 6 hops.
TEST(NcclRuns, ATreeOfOneServerIsAChain)
{
    const auto took = TakeNccl(1,
                               R"({"kind": "nccl:tree", "pipelineChunks": 1})",
                               R"({"gradient": "1MB", "protocol": {"kind": "simple",
                                   "baseLatency": "7us", "hopLatency": "3us"}})");
    EXPECT_EQ(took, int64_t{7'000'000} + int64_t{6} * (1'000'000'000 + 200'000 + 3'000'000));
}

// With a ring for each NIC all of them send: 2 (w-1)/w K/(n B) for w ranks and n NICs a server, if
// nothing but rates counts; 14 steps of w = 8 ranks cost 14 latencies of at most 3 us more.
TEST(NcclRuns, RingsUseAllNicsOfAServer)
{
    const auto took = static_cast<double>(TakeNccl(2, "nccl:ring", R"({"gradient": "8MB"})"));
    const auto ideal = 2.0 * 7 / 8 * 8e6 * 8 / 4e9 * 1e12;
    EXPECT_GE(took, ideal);
    EXPECT_LE(took, ideal + 14 * 3e6);
}

PlannedJob
PlanNccl(int servers, const std::string& scheme, const std::string& job)
{
    UsePicoseconds();
    const auto scenario = ParseScenario(STAR, "x.json", MakeNcclRun(servers, scheme, job));
    const auto run = ResolveRun(scenario, 0);
    return PlanJob(run.jobs.at(0), *run.topology);
}

// What its machine is comes from the graph: 8 Gb/s are 1 GB/s inside, 4 x 1 Gb/s out of a server.
TEST(NcclRuns, NcclChoosesByTheGraph)
{
    const auto planned = PlanNccl(3, "nccl", R"({"gradient": "1kB"})");
    ASSERT_TRUE(planned.nccl && planned.nccl->choice);
    const auto& choice = *planned.nccl->choice;
    EXPECT_EQ(choice.machine.ranks, 12U);
    EXPECT_EQ(choice.machine.servers, 3U);
    EXPECT_EQ(choice.machine.channels, 16U);
    EXPECT_DOUBLE_EQ(choice.machine.insideRate, 1e9);
    EXPECT_DOUBLE_EQ(choice.machine.betweenRate, 0.5e9);
    EXPECT_TRUE(choice.machine.hasNvlink);
    EXPECT_TRUE(choice.machine.hasNvswitch);
    // LL's bandwidths are 1/2 of 0.5 GB/s in a ring, 1/3.8 of 0.46 in a tree, whose times of 1 kB
    // are latencies, 6.6 + 18 x 1 + 4 x 2.7 us against 6.8 + 2 (3 x 0.6 + 5) = 20.4, and
    // 1 kB / (0.5 x 0.121 GB/s) = 16.5 us against 12 / 22 of 0.25 GB/s, 7.3 us.
    EXPECT_EQ(DescribeNccl(choice.taken), "tree ll");
    EXPECT_NEAR(choice.taken.seconds, (20.4 + 1000 / (500.0 * 0.46 / 3.8)) * 1e-6, 1e-9);
    EXPECT_EQ(planned.plan->GetProtocol(),
              MakeNcclProtocol(choice.taken.algorithm, choice.taken.protocol));
    const auto lines = ListNcclPredictions(choice);
    EXPECT_THAT(lines.at(0), AllOf(HasSubstr("12 ranks in 3 servers"), HasSubstr("tree ll")));
    EXPECT_EQ(lines.size(), 4U); // ring, tree, and the tree over NVSwitches
    EXPECT_THAT(lines,
                testing::Contains(AllOf(HasSubstr("nvls-tree"), HasSubstr("not simulated"))));
    const auto large = PlanNccl(3, "nccl", R"({"gradient": "1GB"})");
    EXPECT_EQ(DescribeNccl(large.nccl->choice->taken), "ring simple");
}

TEST(NcclRuns, NcclTakesWhatItChoseTakes)
{
    const auto small = MakeNcclRun(2, "nccl", R"({"gradient": "1kB"})");
    const auto result = Simulate(small).summary;
    EXPECT_EQ(result.autoChoice, "tree ll");
    EXPECT_GT(result.autoEstimateSeconds, 0.0);
    EXPECT_EQ(result.meanIctPs,
              TakeNccl(2,
                       "nccl:tree",
                       R"({"gradient": "1kB", "protocol": {"kind": "ll", "baseLatency": "6.8us",
                           "networkHopLatency": "5us"}})"));
    const auto large = Simulate(MakeNcclRun(3, "nccl", R"({"gradient": "64MB"})")).summary;
    EXPECT_EQ(large.autoChoice, "ring simple");
    EXPECT_EQ(large.meanIctPs,
              TakeNccl(3, "nccl:ring", R"({"gradient": "64MB", "protocol": "simple"})"));
}

// Two hosts of one rank: 6.6 + 2 x 5 us of a ring by LL are less than 6.8 + 2 x 5 of a tree, and
// the ring's hops are a tree's. Two messages of 4 B and a flag of 4, 64 ns at 1 Gb/s.
TEST(NcclRuns, RanksAloneInTheirServersHaveATreesHops)
{
    const auto result =
        Simulate({{"topology.hosts", "2"}, {"scheme", "nccl"}, {"job.gradient", "8B"}}).summary;
    EXPECT_EQ(result.autoChoice, "ring ll");
    EXPECT_EQ(result.meanIctPs, int64_t{6'600'000} + int64_t{2} * (5'000'000 + 64'000));
}

std::string
ErrorOfNccl(const std::string& scheme, const std::string& job = "{}")
{
    UsePicoseconds();
    return ErrorOf([&] {
        const auto scenario = ParseScenario(STAR, "x.json", MakeNcclRun(2, scheme, job));
        CheckRun(ResolveRun(scenario, 0), true);
    });
}

TEST(NcclRuns, WhatCannotBeIsNamed)
{
    EXPECT_THAT(ErrorOfNccl("nccl:nvls"), AllOf(HasSubstr("scheme.kind"), HasSubstr("NVSwitch")));
    EXPECT_THAT(ErrorOfNccl("nccl:nvls-tree"), HasSubstr("nccl:tree is what comes nearest"));
    EXPECT_THAT(ErrorOfNccl("nccl:collnet-chain"), HasSubstr("nccl:collnet-direct"));
    EXPECT_THAT(ErrorOfNccl("nccl:rnig"), HasSubstr("nccl:ring"));
    EXPECT_THAT(ErrorOfNccl("nccl", R"({"protocol": "ll"})"), HasSubstr("leave job.protocol out"));
    EXPECT_THAT(ErrorOfNccl("nccl", R"({"workers": 7})"), HasSubstr("3 to 4 ranks"));
    EXPECT_THAT(ErrorOfNccl("nccl:ring", R"({"training": {"blocks": [{"gradient": "1kB"}]}})"),
                HasSubstr("none for the collectives of training"));
    EXPECT_THAT(ErrorOfNccl("nccl", R"({"training": {"blocks": [{"gradient": "1kB"}]}})"),
                HasSubstr("none for the collectives of training"));
}

} // namespace
} // namespace ns3::gradsync
