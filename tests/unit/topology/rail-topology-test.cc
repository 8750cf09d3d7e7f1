// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/rail-topology.h"
#include "ns3/routing-tables.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

namespace ns3::gradsync
{
namespace
{

using ::testing::HasSubstr;

/// Eight accelerators, each with a NIC behind a PCIe switch of the two.
RailOptions
MakeRailOptions(uint32_t units, uint32_t serversPerUnit, uint32_t spines)
{
    RailOptions options;
    options.units = units;
    options.serversPerUnit = serversPerUnit;
    options.spines = spines;
    options.hostLink = {DataRate("400Gbps"), NanoSeconds(500)};
    options.fabricLink = {DataRate("400Gbps"), NanoSeconds(500)};
    options.server.accelerators = 8;
    options.server.nics = 8;
    options.server.sockets = 2;
    options.server.pcieSwitches = 8;
    options.server.pcie.rate = DataRate("504Gbps");
    options.server.nvlink = {DataRate("3600Gbps"), NanoSeconds(100)};
    return options;
}

uint64_t
CountLinks(const Topology& topology, LinkKind kind)
{
    return std::ranges::count(topology.GetLinks(), kind, &TopologyLink::kind);
}

std::string
GetLeafOf(const Topology& topology, const std::string& nic)
{
    for (const auto& port : topology.GetPorts(*topology.FindNode(nic)))
    {
        if (topology.GetLinks()[port.link].kind == LinkKind::Host)
        {
            return topology.GetNodes()[port.peer].name;
        }
    }
    return {};
}

// DGX SuperPOD, DGX B200: 2 units of 32 systems have 512 GPUs, 16 leaves, 8 spines and 512 cables
// of each kind, 4 between a leaf and a spine; 4 units have 1024, 32, 16 and 1024, 2 each.
TEST(RailTopology, HasTheCountsOfTheSuperPod)
{
    for (const uint32_t units : {2, 4})
    {
        auto options = MakeRailOptions(units, 32, 4 * units);
        options.linksPerSpine = 8 / units;
        const auto topology = MakeRailTopology(options);
        EXPECT_EQ(topology.GetEndpoints().size(), 256 * units);
        EXPECT_EQ(std::ranges::count(topology.GetNodes(), 1, &TopologyNode::tier), 8 * units);
        EXPECT_EQ(CountLinks(topology, LinkKind::Fabric), 256 * units);
        EXPECT_EQ(CountLinks(topology, LinkKind::Host), 256 * units);
        EXPECT_NO_THROW(topology.CheckConnected());
    }
}

TEST(RailTopology, PutsEachRailOfAUnitOnALeaf)
{
    std::mt19937_64 random(22);
    for (int round = 0; round < 20; ++round)
    {
        const auto units = 1 + random() % 3;
        const auto servers = 1 + random() % 4;
        auto options = MakeRailOptions(units, servers, 1 + random() % 3);
        options.server.nics = 1 + random() % 8;
        const auto rails = options.server.nics;
        const auto topology = MakeRailTopology(options);
        for (uint32_t host = 0; host < options.units * options.serversPerUnit; ++host)
        {
            for (uint32_t rail = 0; rail < rails; ++rail)
            {
                const auto leaf = host / options.serversPerUnit * rails + rail;
                EXPECT_EQ(GetLeafOf(topology, fmt::format("host{}.nic{}", host, rail)),
                          fmt::format("leaf{}", leaf));
            }
        }
        EXPECT_EQ(CountLinks(topology, LinkKind::Fabric),
                  uint64_t{options.units} * rails * options.spines);
    }
}

// Accelerator, PCIe switch, NIC, leaf, and back: 6 links along a rail; two more through a spine
// where the rail or the unit is another.
TEST(RailTopology, ARailOfAUnitCrossesOneSwitch)
{
    const auto topology = MakeRailTopology(MakeRailOptions(2, 2, 2));
    const RoutingTables tables(topology);
    const auto distance = [&](uint32_t from, uint32_t to) { return tables.GetDistance(from, to); };
    EXPECT_EQ(distance(3, 8 + 3), 6U);
    EXPECT_EQ(distance(3, 8 + 4), 8U);
    EXPECT_EQ(distance(3, 16 + 3), 8U);
    EXPECT_EQ(distance(3, 4), 2U); // NVLink
}

// A leaf's 32 NICs want 12.8 Tb/s; twice as much as 4 spines by 2 links of 800 Gb/s.
TEST(RailTopology, SetsUplinksForTheWantedOversubscription)
{
    auto options = MakeRailOptions(1, 32, 4);
    options.linksPerSpine = 2;
    options.oversubscription = 2;
    const auto topology = MakeRailTopology(options);
    for (const auto& link : topology.GetLinks())
    {
        if (link.kind == LinkKind::Fabric)
        {
            EXPECT_EQ(link.rate, DataRate("800Gbps"));
        }
    }
}

TEST(RailTopology, SaysWhatIsWrong)
{
    const auto getError = [](const RailOptions& options) -> std::string {
        try
        {
            MakeRailTopology(options);
        }
        catch (const std::invalid_argument& error)
        {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(getError(MakeRailOptions(0, 1, 1)), HasSubstr("units must be at least 1"));
    EXPECT_THAT(getError(MakeRailOptions(1, 0, 1)), HasSubstr("serversPerUnit must be at least 1"));
    EXPECT_THAT(getError(MakeRailOptions(1, 1, 0)), HasSubstr("spines must be at least 1"));
    constexpr auto MOST = std::numeric_limits<uint32_t>::max();
    EXPECT_THAT(getError(MakeRailOptions(MOST, 1, 1)), HasSubstr("links between switches"));
    EXPECT_THAT(getError(MakeRailOptions(1, MOST, 1)), HasSubstr("32768 endpoints"));
    EXPECT_THAT(getError(MakeRailOptions(1, 1, MOST)), HasSubstr("links between switches"));
    auto options = MakeRailOptions(1, 1, 1);
    options.linksPerSpine = MOST;
    EXPECT_THAT(getError(options), HasSubstr("links between switches"));
    options.linksPerSpine = 1;
    options.server.pcieSwitches = 1;
    EXPECT_THAT(getError(options), HasSubstr("from its 2 sockets to its 8 accelerators"));
    options.server.pcieSwitches = 9;
    EXPECT_THAT(getError(options), HasSubstr("from its 2 sockets to its 8 accelerators"));
}

} // namespace
} // namespace ns3::gradsync
