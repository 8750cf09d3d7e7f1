// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/all-reduce-bound.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

namespace ns3::gradsync
{
namespace
{

constexpr uint64_t GRADIENT = 1'000'000; //!< 8 Mb: 8 ms at 1 Gb/s

/// Racks of hosts below one core; rates in Gb/s.
struct Rack
{
    uint32_t hosts;
    uint64_t hostGbps;
    uint64_t uplinkGbps;
};

Topology
MakeBoundedRacks(const std::vector<Rack>& racks)
{
    Topology topology;
    const auto core = topology.AddNode("core", NodeKind::Switch, 2);
    const auto link = [&topology](NodeId a, NodeId b, uint64_t gbps) {
        topology.AddLink(a, b, DataRate(gbps * 1'000'000'000), Time(0), LinkKind::Fabric);
    };
    for (const auto& rack : racks)
    {
        const auto number = topology.GetNodes().size();
        const auto leaf = topology.AddNode(fmt::format("leaf{}", number), NodeKind::Switch, 1);
        link(leaf, core, rack.uplinkGbps);
        for (uint32_t host = 0; host < rack.hosts; ++host)
        {
            link(topology.AddNode(fmt::format("host{}-{}", number, host), NodeKind::Host, 0),
                 leaf,
                 rack.hostGbps);
        }
    }
    return topology;
}

/// In ms; the first `workers` endpoints contribute, the others serve.
double
GetBoundMs(const std::vector<Rack>& racks, uint32_t workers)
{
    const auto topology = MakeBoundedRacks(racks);
    std::vector<uint32_t> ranks(topology.GetEndpoints().size());
    std::iota(ranks.begin(), ranks.end(), 0U);
    return 1e3 * ComputeAllReduceBound(topology, ranks, workers, GRADIENT);
}

TEST(AllReduceBound, IsTwiceTheShareOfTheOthersOnEqualHosts)
{
    // 2(w-1)/w K/B.
    for (uint32_t w = 2; w <= 9; ++w)
    {
        EXPECT_DOUBLE_EQ(GetBoundMs({{w, 1, 100}}, w), 2.0 * (w - 1) / w * 8);
    }
}

TEST(AllReduceBound, IsNothingForOneWorker)
{
    EXPECT_EQ(GetBoundMs({{1, 1, 100}}, 1), 0.0);
    EXPECT_EQ(GetBoundMs({{3, 1, 100}}, 1), 0.0); // with two servers
}

TEST(AllReduceBound, IsThatOfTheRacksWhereTheyAreOversubscribed)
{
    // r = 4 racks of 2 at 4:1, uplinks of 0.5 B: 2(r-1)K / (r C) = 3 tau, above 2 * 7/8 tau.
    EXPECT_DOUBLE_EQ(GetBoundMs({{2, 2, 1}, {2, 2, 1}, {2, 2, 1}, {2, 2, 1}}, 8), 3.0 * 4);
}

TEST(AllReduceBound, IsThatOfTheSlowestGroup)
{
    // The second rack is behind 1 Gb/s: K/C = 8 ms, above 2K / 101 Gb/s and 2 * 3/4 * 0.8 ms.
    EXPECT_DOUBLE_EQ(GetBoundMs({{2, 10, 100}, {2, 10, 1}}, 4), 8.0);
}

TEST(AllReduceBound, CountsTheLinksOfDedicatedServers)
{
    // 4 workers and 4 servers: 2 * 3 K / 8 B = 0.75 tau, so that K/B at each worker decides.
    EXPECT_DOUBLE_EQ(GetBoundMs({{8, 1, 100}}, 4), 8.0);
    // With one server 2 * 3 K / 5 B = 1.2 tau.
    EXPECT_DOUBLE_EQ(GetBoundMs({{5, 1, 100}}, 4), 1.2 * 8);
}

/// As GetBoundMs, of any demands.
double
GetBoundMs(const std::vector<Rack>& racks,
           uint32_t workers,
           const std::vector<ExchangeDemand>& demands)
{
    const auto topology = MakeBoundedRacks(racks);
    std::vector<uint32_t> ranks(topology.GetEndpoints().size());
    std::iota(ranks.begin(), ranks.end(), 0U);
    return 1e3 * ComputeExchangeBound(topology, ranks, workers, demands);
}

TEST(ExchangeBound, CountsWhatEachRackHasToSendAndReceive)
{
    // Two racks of 2 at 4:1, uplinks of 0.5 B. All-to-all of K at each worker: 4 of the blocks of
    // K/4 leave each rack, K / 0.5 B = 2 tau; a host sends 3/4 K.
    const std::vector<Rack> racks = {{2, 2, 1}, {2, 2, 1}};
    std::vector<ExchangeDemand> demands;
    for (uint32_t source = 0; source < 4; ++source)
    {
        for (uint32_t target = 0; target < 4; ++target)
        {
            demands.push_back({source, target, GRADIENT / 4});
        }
    }
    EXPECT_DOUBLE_EQ(GetBoundMs(racks, 4, demands), 2.0 * 4);
}

TEST(ExchangeBound, CountsAnAllGatherAndAReduceScatterOnceForEachRack)
{
    // Half of the buffer, K/2, enters (leaves) each rack over 0.5 B: tau; a host 3/4 tau.
    const std::vector<Rack> racks = {{2, 2, 1}, {2, 2, 1}};
    std::vector<ExchangeDemand> gather;
    std::vector<ExchangeDemand> scatter;
    for (uint32_t rank = 0; rank < 4; ++rank)
    {
        gather.push_back({rank, std::nullopt, GRADIENT / 4});
        scatter.push_back({std::nullopt, rank, GRADIENT / 4});
    }
    EXPECT_DOUBLE_EQ(GetBoundMs(racks, 4, gather), 4.0);
    EXPECT_DOUBLE_EQ(GetBoundMs(racks, 4, scatter), 4.0);
}

TEST(ExchangeBound, KnowsThatTheRootOfABroadcastReceivesNothing)
{
    // Worker 0 is behind 1 Gb/s, the others behind 4: K at 1 Gb/s to send for the root. With the
    // root among the fast ones, the slow one receives K all the same. A reduce is the reverse.
    const std::vector<Rack> racks = {{1, 1, 100}, {3, 4, 100}};
    EXPECT_DOUBLE_EQ(GetBoundMs(racks, 4, {{0, std::nullopt, GRADIENT}}), 8.0);
    EXPECT_DOUBLE_EQ(GetBoundMs(racks, 4, {{1, std::nullopt, GRADIENT}}), 8.0);
    EXPECT_DOUBLE_EQ(GetBoundMs(racks, 4, {{std::nullopt, 1, GRADIENT}}), 8.0);
    // From 1 to 2 alone, 2 ms; the slow one has nothing to do with it.
    EXPECT_DOUBLE_EQ(GetBoundMs(racks, 4, {{1, 2, GRADIENT}}), 2.0);
    EXPECT_DOUBLE_EQ(GetBoundMs(racks, 4, {{1, 1, GRADIENT}}), 0.0);
}

TEST(ExchangeBound, AddsUpWhatHasToCross)
{
    // A broadcast to 4 hosts of B through 2 racks; 3 hosts receive K: 3 K / 4 B at most, so that
    // K/B at each receiver decides.
    EXPECT_DOUBLE_EQ(GetBoundMs({{4, 1, 100}}, 4, {{0, std::nullopt, GRADIENT}}), 8.0);
    // Eight roots at once: every host receives 7 K and sends at least K.
    std::vector<ExchangeDemand> demands;
    for (uint32_t root = 0; root < 8; ++root)
    {
        demands.push_back({root, std::nullopt, GRADIENT});
    }
    EXPECT_DOUBLE_EQ(GetBoundMs({{8, 1, 100}}, 8, demands), 7 * 8.0);
}

TEST(AllReduceBound, LeavesOutHostsWithoutARank)
{
    const auto topology = MakeBoundedRacks({{4, 1, 100}});
    const std::vector<uint32_t> ranks = {1, 3};
    EXPECT_DOUBLE_EQ(1e3 * ComputeAllReduceBound(topology, ranks, 2, GRADIENT), 8.0);
}

TEST(ExchangeBound, LetsSwitchesAddWhatCrosses)
{
    // Eight workers whose racks bind nothing: 2 (w - 1)/w tau where hosts add, tau where switches
    // do. Two racks of 2 with uplinks of 0.5 B: K leaves each all the same, 2 tau. tau = 4 ms.
    const ExchangeDemand all{std::nullopt, std::nullopt, GRADIENT};
    const std::vector<Rack> flat = {{4, 2, 1000}, {4, 2, 1000}};
    const std::vector<Rack> narrow = {{2, 2, 1}, {2, 2, 1}};
    const auto bound = [&all](const std::vector<Rack>& racks, SwitchSums switches) {
        const auto topology = MakeBoundedRacks(racks);
        std::vector<uint32_t> ranks(topology.GetEndpoints().size());
        std::iota(ranks.begin(), ranks.end(), 0U);
        return 1e3 * ComputeExchangeBound(topology,
                                          ranks,
                                          static_cast<uint32_t>(ranks.size()),
                                          {&all, 1},
                                          switches);
    };
    EXPECT_DOUBLE_EQ(bound(flat, SwitchSums::No), 7.0 / 4.0 * 4.0);
    EXPECT_DOUBLE_EQ(bound(flat, SwitchSums::Yes), 4.0);
    EXPECT_DOUBLE_EQ(bound(narrow, SwitchSums::Yes), 2.0 * 4.0);
    EXPECT_DOUBLE_EQ(bound(narrow, SwitchSums::No), 2.0 * 4.0);
}

} // namespace
} // namespace ns3::gradsync
