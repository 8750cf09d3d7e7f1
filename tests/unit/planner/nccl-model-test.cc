// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/group-finder.h"
#include "ns3/nccl-machine.h"
#include "ns3/nccl-model.h"
#include "ns3/nccl-schemes.h"
#include "ns3/star-topology.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using enum NcclAlgorithm;
using enum NcclProtocol;

constexpr double US = 1e-6;
constexpr double GB = 1e9;

/// One server of eight GPUs on an NVSwitch of 450 GB/s each.
NcclMachine
MakeServer()
{
    NcclMachine machine;
    machine.ranks = 8;
    machine.channels = 16;
    machine.insideRate = 450 * GB;
    return machine;
}

/// Servers of eight GPUs with a NIC of 50 GB/s each.
NcclMachine
MakeServers(uint32_t servers)
{
    auto machine = MakeServer();
    machine.servers = servers;
    machine.ranks = 8 * servers;
    machine.betweenRate = 400 * GB;
    return machine;
}

void
ExpectTime(const NcclMachine& machine,
           NcclAlgorithm algorithm,
           NcclProtocol protocol,
           uint64_t bytes,
           double microseconds,
           double gigabytes)
{
    const auto found = PredictNccl(machine, algorithm, protocol, bytes);
    ASSERT_TRUE(found.has_value());
    EXPECT_NEAR(found->latencySeconds / US, microseconds, 1e-9);
    EXPECT_NEAR(found->bytesPerSecond / GB, gigabytes, 1e-9);
    EXPECT_NEAR(found->seconds / US,
                microseconds + static_cast<double>(bytes) / (1e3 * gigabytes),
                1e-6);
}

// A ring of 8 has 14 steps; the buffer goes at 8/14 of what links carry.
//   ll      6.6 + 14 x 0.6 us; half of 450 is more than the 141 GB/s that LL reaches on Hopper
//   ll128   14 + 14 x 1.9 us;  0.92 x 450 = 414 of at most 16 x 36.7
//   simple  8.4 + 14 x 3.4 us; 450
TEST(NcclModel, CountsARingInOneServerAsByHand)
{
    const auto machine = MakeServer();
    ExpectTime(machine, Ring, Ll, 1 << 20, 15.0, 141.0 * 8 / 14);
    ExpectTime(machine, Ring, Ll128, 1 << 20, 40.6, 414.0 * 8 / 14);
    ExpectTime(machine, Ring, Simple, 1 << 20, 56.0, 450.0 * 8 / 14);
    auto volta = machine;
    volta.architecture = NcclArchitecture::Volta;
    ExpectTime(volta, Ring, Ll, 1 << 20, 15.0, 39.0 * 8 / 14);
    ExpectTime(volta, Ring, Ll128, 1 << 20, 40.6, 16 * 20.0 * 8 / 14);
    auto pcie = machine;
    pcie.hasNvlink = false;
    pcie.insideRate = 24 * GB;
    ExpectTime(pcie, Ring, Ll, 1 << 20, 6.6 + 14 * 1.0, 12.0 * 8 / 14);
    ExpectTime(pcie, Ring, Simple, 1 << 20, 8.4 + 14 * 5.7, 24.0 * 8 / 14);
    EXPECT_FALSE(PredictNccl(pcie, Ring, Ll128, 1 << 20).has_value());
}

// A tree in one server is a chain of 7 hops and back, and carries the buffer twice; of 0.92 x 450 =
// 414 GB/s LL has 1 / 3.8, LL128 7/9, all by what is left of 1 MiB = 64 B x 2^14.
TEST(NcclModel, CountsATreeInOneServerAsByHand)
{
    const auto machine = MakeServer();
    ExpectTime(machine, Tree, Ll, 1 << 20, 6.8 + 14 * 0.6, 0.5 * 414 / 3.8 * 0.5);
    ExpectTime(machine, Tree, Ll128, 1 << 20, 14 + 14 * 1.25, 0.5 * 414 * 7 / 9 * 0.6);
    ExpectTime(machine, Tree, Simple, 1 << 20, 8.4 + 14 * 4.0, 0.5 * 414 * 0.5);
    // 64 B and 63 B: the first of the table, and none.
    ExpectTime(machine, Tree, Simple, 64, 64.4, 0.5 * 414 * 0.9);
    ExpectTime(machine, Tree, Simple, 63, 64.4, 0.5 * 414);
    // 2^22 x 64 B is the last one that is corrected.
    ExpectTime(machine, Tree, Simple, uint64_t{1} << 28, 64.4, 0.5 * 414 * 0.9);
    ExpectTime(machine, Tree, Simple, uint64_t{1} << 29, 64.4, 0.5 * 414);
}

// Four servers of 8: 62 steps of a ring, 6 of them between servers; a tree has 7 hops and 2 levels,
// there and back. 400 GB/s leave a server; LL reaches 20.4 GB/s beside Intel's processors and 19
// beside AMD's; a channel of a tree 36 GB/s, of LL128 29.
//   ring ll      6.6 + 56 x 1 + 6 x 2.7 us: a post of 1 us to the network is slower than 0.6
//   ring simple  8.4 + 56 x 3.4 + 6 x 14 us, 1.4 times from 64 bytes a channel and rank on
TEST(NcclModel, CountsServersAsByHand)
{
    const auto machine = MakeServers(4);
    const auto bytes = uint64_t{1} << 24;
    ExpectTime(machine, Ring, Ll, bytes, 6.6 + 56 + 6 * 2.7, 20.4 * 32 / 62);
    ExpectTime(machine, Ring, Ll128, bytes, 14 + 56 * 1.9 + 6 * 4.0, 368.0 * 32 / 62);
    const auto simple = 8.4 + 56 * 3.4 + 6 * 14.0;
    ExpectTime(machine, Ring, Simple, bytes, 1.4 * simple, 400.0 * 32 / 62);
    ExpectTime(machine, Ring, Simple, 64 * 16 * 32, 1.4 * simple, 400.0 * 32 / 62);
    ExpectTime(machine, Ring, Simple, 64 * 16 * 32 - 1, simple, 400.0 * 32 / 62);
    ExpectTime(machine, Tree, Ll, bytes, 6.8 + 2 * (7 * 0.6 + 2 * 5.0), 0.5 * 20.4 * 0.9);
    ExpectTime(machine, Tree, Ll128, bytes, 14 + 2 * (7 * 1.25 + 2 * 8.5), 0.5 * 345.0 * 0.9);
    ExpectTime(machine, Tree, Simple, bytes, 8.4 + 2 * (7 * 4.0 + 2 * 14.0), 0.5 * 368.0 * 0.7);
    auto amd = machine;
    amd.hasAmdCpu = true;
    ExpectTime(amd, Ring, Ll, bytes, 6.6 + 56 * 2 + 6 * 2.7, 19.0 * 32 / 62);
    ExpectTime(amd, Ring, Simple, bytes, 1.4 * (8.4 + 56 * 6.0 + 6 * 14.0), 400.0 * 32 / 62);
}

// Of two servers each is a leaf of one tree: 450 GB/s inside, not the 400 of the NICs, is the
// bound. 368 of a ring, 0.92 x 450 = 414 of a tree, below 16 x 41.4.
TEST(NcclModel, GivesTwoServersMoreOfATree)
{
    const auto machine = MakeServers(2);
    ExpectTime(machine, Tree, Simple, uint64_t{1} << 30, 8.4 + 2 * (7 * 4.0 + 14.0), 0.5 * 414);
    ExpectTime(machine, Ring, Ll128, uint64_t{1} << 30, 14 + 28 * 1.9 + 2 * 4.0, 368.0 * 16 / 30);
}

// One GPU a server: each of the 2 x 3 hops of a ring takes what a tree's takes.
TEST(NcclModel, ExposesTheNetworkOfServersOfOne)
{
    auto machine = MakeServers(4);
    machine.ranks = 4;
    machine.betweenRate = 50 * GB;
    ExpectTime(machine, Ring, Ll, 1 << 20, 6.6 + 6 * 5.0, 20.4 * 4 / 6);
    ExpectTime(machine, Tree, Ll, 1 << 20, 6.8 + 4 * 5.0, 0.5 * 0.92 * 50 / 3.8 * 0.5);
}

// NVLS: 25 us; two operations at once at 0.85 of 450 GB/s, on 15 of 16 channels.
TEST(NcclModel, KnowsNvlsOnHopperInOneServerAlone)
{
    const auto machine = MakeServer();
    ExpectTime(machine, Nvls, Simple, 1 << 20, 25.0, 2 * 0.85 * 450 * 15 / 16 * 8 / 14);
    EXPECT_FALSE(PredictNccl(machine, Nvls, Ll, 1 << 20).has_value());
    EXPECT_FALSE(PredictNccl(machine, NvlsTree, Simple, 1 << 20).has_value());
    EXPECT_FALSE(PredictNccl(MakeServers(2), Nvls, Simple, 1 << 20).has_value());
    // A tree of four: 25 us and 2 x 2 hops of 20.9 us; 400 GB/s are less than 16 x 45.5.
    ExpectTime(MakeServers(4), NvlsTree, Simple, 1 << 20, 25 + 4 * 20.9, 400.0 * 32 / 62);
    auto ampere = machine;
    ampere.architecture = NcclArchitecture::Ampere;
    EXPECT_FALSE(PredictNccl(ampere, Nvls, Simple, 1 << 20).has_value());
    auto direct = machine;
    direct.hasNvswitch = false;
    EXPECT_FALSE(PredictNccl(direct, Nvls, Simple, 1 << 20).has_value());
    auto single = machine;
    single.ranks = 1;
    EXPECT_TRUE(PredictNccl(single, 1 << 20).empty());
}

/// Of rings and trees.
NcclPrediction
FindLeast(const NcclMachine& machine, uint64_t bytes)
{
    auto all = PredictNccl(machine, bytes);
    std::erase_if(all, [](const auto& found) {
        return found.algorithm != Ring && found.algorithm != Tree;
    });
    return *std::ranges::min_element(all, {}, &NcclPrediction::seconds);
}

// As sizes grow, protocols go from LL by LL128 to Simple, and trees of several servers to rings:
// never back, but where the correction of trees at middle sizes lets a ring go first.
TEST(NcclModel, ChoosesMoreBandwidthForLargerSizes)
{
    for (const uint32_t servers : {1U, 4U, 16U, 64U})
    {
        const auto machine = servers == 1 ? MakeServer() : MakeServers(servers);
        std::vector<NcclProtocol> protocols;
        std::vector<NcclAlgorithm> algorithms;
        for (uint32_t power = 10; power <= 34; ++power)
        {
            const auto least = FindLeast(machine, uint64_t{1} << power);
            if (protocols.empty() || protocols.back() != least.protocol)
            {
                protocols.push_back(least.protocol);
            }
            if (algorithms.empty() || algorithms.back() != least.algorithm)
            {
                algorithms.push_back(least.algorithm);
            }
        }
        EXPECT_THAT(protocols, testing::ElementsAre(Ll, Ll128, Simple)) << servers;
        // In one server a ring has 15.0 us of latency and a tree 15.2.
        EXPECT_EQ(algorithms.front(), servers == 1 ? Ring : Tree);
        EXPECT_EQ(algorithms.back(), Ring);
        if (servers >= 16)
        {
            EXPECT_THAT(algorithms, testing::ElementsAre(Tree, Ring)) << servers;
        }
    }
}

// More bytes never take less time than half as many: the tree's correction jumps, but by no more
// than a third from one power of two to the next.
TEST(NcclModel, TimesGrowWithBytes)
{
    std::mt19937_64 random(8);
    for (int trial = 0; trial < 500; ++trial)
    {
        const auto servers = static_cast<uint32_t>(1 + random() % 32);
        const auto machine = servers == 1 ? MakeServer() : MakeServers(servers);
        const auto bytes = 1 + random() % (uint64_t{1} << 32);
        const auto once = PredictNccl(machine, bytes);
        const auto twice = PredictNccl(machine, 2 * bytes);
        ASSERT_EQ(once.size(), twice.size());
        for (size_t i = 0; i < once.size(); ++i)
        {
            EXPECT_GE(twice[i].seconds, once[i].seconds);
            EXPECT_GT(once[i].bytesPerSecond, 0.0);
        }
    }
}

/// Of the first `ranks` endpoints.
NcclMachine
Measure(const Topology& topology, uint32_t ranks)
{
    std::vector<uint32_t> endpoints(ranks);
    std::iota(endpoints.begin(), endpoints.end(), 0);
    return MeasureNcclMachine(topology, endpoints, FindServers(topology, endpoints));
}

TEST(NcclMachine, OfHostsIsOneRankAServer)
{
    const auto machine = Measure(
        MakeStarTopology({.hosts = 4, .hostLink = {DataRate("80Gbps"), Time(0)}, .server = {}}),
        3);
    EXPECT_EQ(machine.ranks, 3U);
    EXPECT_EQ(machine.servers, 3U);
    EXPECT_DOUBLE_EQ(machine.insideRate, 10 * GB);
    EXPECT_DOUBLE_EQ(machine.betweenRate, 10 * GB);
    EXPECT_FALSE(machine.hasNvlink);
    EXPECT_FALSE(machine.hasNvswitch);
}

// Four accelerators on PCIe of 160 Gb/s, two NICs of 40 Gb/s; with NVLink of 800 Gb/s that counts.
TEST(NcclMachine, OfServersHasTheirLinks)
{
    ServerOptions server;
    server.accelerators = 4;
    server.nics = 2;
    server.pcie.rate = DataRate("160Gbps");
    const auto make = [&server] {
        return MakeStarTopology(
            {.hosts = 3, .hostLink = {DataRate("40Gbps"), Time(0)}, .server = server});
    };
    auto machine = Measure(make(), 8); // the third server has no rank
    EXPECT_EQ(machine.servers, 2U);
    EXPECT_DOUBLE_EQ(machine.insideRate, 20 * GB);
    EXPECT_DOUBLE_EQ(machine.betweenRate, 10 * GB);
    EXPECT_FALSE(machine.hasNvlink);
    server.nvlink = {DataRate("800Gbps"), Time(0)};
    machine = Measure(make(), 8);
    EXPECT_DOUBLE_EQ(machine.insideRate, 100 * GB);
    EXPECT_DOUBLE_EQ(machine.betweenRate, 10 * GB);
    EXPECT_TRUE(machine.hasNvlink);
    EXPECT_TRUE(machine.hasNvswitch);
    EXPECT_EQ(Measure(make(), 4).servers, 1U);
}

TEST(NcclMachine, CountsServersOfDifferentSizes)
{
    const auto sizes = CountServerSizes({0, 0, 1, 2, 2, 2});
    EXPECT_EQ(sizes.servers, 3U);
    EXPECT_EQ(sizes.least, 1U);
    EXPECT_EQ(sizes.most, 3U);
}

TEST(NcclModel, GivesTreesTheirOwnFigures)
{
    EXPECT_EQ(MakeNcclProtocol(Ring, Ll128), FindProtocol("ll128")->defaults);
    EXPECT_EQ(MakeNcclProtocol(Tree, Ll), (MessageProtocol{6'800'000, 600'000, 5'000'000, 0.5}));
    EXPECT_EQ(MakeNcclProtocol(Tree, Ll128),
              (MessageProtocol{14'000'000, 1'250'000, 8'500'000, 0.9375}));
    EXPECT_EQ(MakeNcclProtocol(Tree, Simple),
              (MessageProtocol{8'400'000, 4'000'000, 14'000'000, 1.0}));
}

} // namespace
} // namespace ns3::gradsync
