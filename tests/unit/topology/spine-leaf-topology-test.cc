// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/spine-leaf-topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>

namespace ns3::gradsync
{
namespace
{

SpineLeafOptions
MakeSpineLeafOptions(uint32_t spines, uint32_t leaves, uint32_t hostsPerLeaf)
{
    return {.spines = spines,
            .leaves = leaves,
            .hostsPerLeaf = hostsPerLeaf,
            .hostsOfLeaf = {},
            .hostLink = {DataRate("40Gbps"), MicroSeconds(1)},
            .fabricLink = {DataRate("100Gbps"), MicroSeconds(2)},
            .oversubscription = 0,
            .server = {}};
}

TEST(SpineLeafTopology, HasEveryLeafOnEverySpine)
{
    const auto topology = MakeSpineLeafTopology(MakeSpineLeafOptions(2, 4, 8));
    // 2 spines + 4 leaves + 4*8 hosts; 2*4 fabric links + 32 host links.
    EXPECT_EQ(topology.GetNodes().size(), 38U);
    EXPECT_EQ(topology.GetEndpoints().size(), 32U);
    EXPECT_EQ(topology.GetLinks().size(), 40U);
    EXPECT_EQ(topology.GetPorts(*topology.FindNode("spine1")).size(), 4U);
    EXPECT_EQ(topology.GetPorts(*topology.FindNode("leaf3")).size(), 10U);
    EXPECT_NO_THROW(topology.CheckConnected());
    std::map<LinkKind, uint64_t> rates;
    for (const auto& link : topology.GetLinks())
    {
        rates[link.kind] += link.rate.GetBitRate();
    }
    EXPECT_EQ(rates.at(LinkKind::Fabric), 8 * 100'000'000'000ULL);
    EXPECT_EQ(rates.at(LinkKind::Host), 32 * 40'000'000'000ULL);
}

TEST(SpineLeafTopology, PutsHostsOnLeavesInContiguousBlocks)
{
    auto options = MakeSpineLeafOptions(1, 3, 0);
    options.hostsOfLeaf = {2, 1, 3};
    const auto topology = MakeSpineLeafTopology(options);
    std::vector<std::string> leaves;
    for (const auto endpoint : topology.GetEndpoints())
    {
        leaves.push_back(topology.GetNodes()[topology.GetPorts(endpoint)[0].peer].name);
    }
    EXPECT_THAT(leaves,
                ::testing::ElementsAre("leaf0", "leaf0", "leaf1", "leaf2", "leaf2", "leaf2"));
}

TEST(SpineLeafTopology, SetsTheFabricRateForAWantedOversubscription)
{
    auto options = MakeSpineLeafOptions(2, 2, 0);
    options.hostsOfLeaf = {2, 6};
    options.oversubscription = 4.0;
    const auto topology = MakeSpineLeafTopology(options);
    // The fuller leaf decides: 6 * 40 Gbit/s / (2 spines * 4) = 30 Gbit/s.
    EXPECT_EQ(topology.GetLinks()[0].rate, DataRate("30Gbps"));
    EXPECT_EQ(topology.GetLinks()[0].kind, LinkKind::Fabric);
    EXPECT_EQ(topology.GetLinks()[0].delay, MicroSeconds(2));
}

/// Options, the field that is broken in them, and a piece of the error text.
struct BadOptions
{
    const char* name;
    void (*breakIt)(SpineLeafOptions&);
    const char* expected;
};

class SpineLeafErrors : public ::testing::TestWithParam<BadOptions>
{
};

TEST_P(SpineLeafErrors, AreNamed)
{
    auto options = MakeSpineLeafOptions(2, 4, 8);
    GetParam().breakIt(options);
    try
    {
        MakeSpineLeafTopology(options);
        FAIL() << "nothing was thrown";
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_THAT(error.what(), ::testing::HasSubstr(GetParam().expected));
    }
}

using Options = SpineLeafOptions;
constexpr auto Infinity = std::numeric_limits<double>::infinity();

INSTANTIATE_TEST_SUITE_P(
    All,
    SpineLeafErrors,
    ::testing::Values(
        BadOptions{"Spines", [](Options& o) { o.spines = 0; }, "spines must be at least 1"},
        BadOptions{"Leaves", [](Options& o) { o.leaves = 0; }, "leaves must be at least 1"},
        BadOptions{"Hosts", [](Options& o) { o.hostsPerLeaf = 0; }, "hostsPerLeaf must be"},
        BadOptions{"BothSizes",
                   [](Options& o) {
                       o.hostsOfLeaf = {1, 1, 1, 1};
                   },
                   "not both"},
        BadOptions{"Sizes",
                   [](Options& o) {
                       o.hostsPerLeaf = 0;
                       o.hostsOfLeaf = {1, 2};
                   },
                   "2 entries for 4 leaves"},
        BadOptions{"EmptyRack",
                   [](Options& o) {
                       o.hostsPerLeaf = 0;
                       o.hostsOfLeaf = {1, 1, 0, 1};
                   },
                   "hostsOfLeaf[2]"},
        BadOptions{"HostRate", [](Options& o) { o.hostLink.rate = DataRate(0); }, "hostLink"},
        BadOptions{"FabricRate", [](Options& o) { o.fabricLink.rate = DataRate(0); }, "fabricLink"},
        BadOptions{"NegativeRatio",
                   [](Options& o) { o.oversubscription = -1; },
                   "oversubscription"},
        BadOptions{"InfiniteRatio",
                   [](Options& o) { o.oversubscription = Infinity; },
                   "oversubscription"},
        BadOptions{"TinyRatio",
                   [](Options& o) { o.oversubscription = 1e-300; },
                   "oversubscription"},
        BadOptions{"TooManyHosts", [](Options& o) { o.hostsPerLeaf = 10'000; }, "32768"},
        BadOptions{"TooManyLinks", [](Options& o) { o.spines = 4'000'000'000; }, "4194304"},
        BadOptions{"NoNic", [](Options& o) { o.server.nics = 0; }, "server.nics"},
        BadOptions{"NoGpu", [](Options& o) { o.server.accelerators = 0; }, "server.accelerators"}),
    [](const auto& bad) { return std::string(bad.param.name); });

} // namespace
} // namespace ns3::gradsync
