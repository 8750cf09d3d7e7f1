// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/routing-tables.h"
#include "ns3/server-builder.h"
#include "ns3/star-topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>
#include <string>

namespace ns3::gradsync
{
namespace
{

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const LinkOptions HostLink{DataRate("10Gbps"), MicroSeconds(1)};

Topology
MakeServers(uint32_t hosts, const ServerOptions& server)
{
    return MakeStarTopology({.hosts = hosts, .hostLink = HostLink, .server = server});
}

TEST(ServerBuilder, MakesOneEndpointOfAServerWithOneAccelerator)
{
    ServerOptions server;
    server.nics = 2;
    const auto topology = MakeServers(1, server);
    ASSERT_EQ(topology.GetNodes().size(), 2U);
    EXPECT_EQ(topology.GetNodes()[1].kind, NodeKind::Host);
    EXPECT_EQ(topology.GetPorts(1).size(), 2U); // a link per NIC
}

TEST(ServerBuilder, PutsAcceleratorsBehindPcieSwitchesAndNics)
{
    ServerOptions server;
    server.accelerators = 4;
    server.nics = 2;
    server.sockets = 2;
    server.nvlink = {DataRate("600Gbps"), NanoSeconds(100)};
    const auto topology = MakeServers(1, server);
    // leaf, 2 CPUs, 2 PCIe switches, NVSwitch, 4 accelerators, 2 NICs.
    EXPECT_EQ(topology.GetNodes().size(), 12U);
    EXPECT_EQ(topology.GetEndpoints().size(), 4U);
    std::map<LinkKind, int> links;
    for (const auto& link : topology.GetLinks())
    {
        ++links[link.kind];
    }
    // PCIe: 2 CPUs, 4 accelerators, 2 NICs.
    EXPECT_THAT(links,
                ElementsAre(Pair(LinkKind::Host, 2),
                            Pair(LinkKind::Pcie, 8),
                            Pair(LinkKind::Upi, 1),
                            Pair(LinkKind::Nvlink, 4)));
    for (const auto& node : topology.GetNodes())
    {
        EXPECT_EQ(node.tier, node.name == "leaf0" ? 1U : 0U) << node.name;
    }
    // Accelerators 0, 1 on socket 0; 2, 3 on socket 1. The switch is the peer of the first port.
    const auto switchOf = [&](const char* name) {
        return topology.GetNodes()[topology.GetPorts(*topology.FindNode(name))[0].peer].name;
    };
    EXPECT_EQ(switchOf("host0.gpu1"), "host0.pcie0");
    EXPECT_EQ(switchOf("host0.gpu2"), "host0.pcie1");
    EXPECT_EQ(switchOf("host0.nic1"), "host0.pcie1");
}

// Four accelerators and two NICs over three switches, of which the first socket has two.
TEST(ServerBuilder, SpreadsPcieSwitchesOverSockets)
{
    ServerOptions server;
    server.accelerators = 4;
    server.nics = 2;
    server.sockets = 2;
    server.pcieSwitches = 3;
    const auto topology = MakeServers(1, server);
    const auto peerOf = [&](const char* name) {
        return topology.GetNodes()[topology.GetPorts(*topology.FindNode(name))[0].peer].name;
    };
    EXPECT_EQ(peerOf("host0.pcie0"), "host0.cpu0");
    EXPECT_EQ(peerOf("host0.pcie1"), "host0.cpu0");
    EXPECT_EQ(peerOf("host0.pcie2"), "host0.cpu1");
    EXPECT_EQ(peerOf("host0.gpu0"), "host0.pcie0");
    EXPECT_EQ(peerOf("host0.gpu1"), "host0.pcie0");
    EXPECT_EQ(peerOf("host0.gpu2"), "host0.pcie1");
    EXPECT_EQ(peerOf("host0.gpu3"), "host0.pcie2");
    EXPECT_EQ(peerOf("host0.nic0"), "host0.pcie0");
    EXPECT_EQ(peerOf("host0.nic1"), "host0.pcie1");
    EXPECT_NO_THROW(topology.CheckConnected());
}

TEST(ServerBuilder, PutsAcceleratorsDirectlyAtTheirNics)
{
    ServerOptions server;
    server.accelerators = 3;
    server.nics = 3;
    server.directNics = true;
    server.nvlink = {DataRate("600Gbps"), NanoSeconds(100)};
    const auto topology = MakeServers(2, server);
    EXPECT_NO_THROW(topology.CheckConnected());
    // A leaf, and of each server three accelerators, three NICs and the NVSwitch.
    EXPECT_EQ(topology.GetNodes().size(), 1U + 2 * 7);
    const RoutingTables routes(topology);
    EXPECT_EQ(routes.GetDistance(0, 2), 2U); // gpu0, nvswitch, gpu2
    EXPECT_EQ(routes.GetDistance(1, 4), 4U); // gpu1, nic1, leaf0, nic1, gpu1
    const auto refuses = [&](const char* text) {
        EXPECT_THAT([&] { MakeServers(1, server); },
                    testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(text)));
    };
    server.nics = 2;
    refuses("server.nics is 2 and server.accelerators 3");
    server.nics = 3;
    server.sockets = 2;
    refuses("neither server.sockets nor server.pcieSwitches");
}

TEST(ServerBuilder, RoutesInsideAndOutOfAServer)
{
    ServerOptions server;
    server.accelerators = 4;
    server.sockets = 2;
    const auto topology = MakeServers(2, server);
    EXPECT_NO_THROW(topology.CheckConnected());
    const RoutingTables routes(topology);
    EXPECT_EQ(routes.GetDistance(0, 1), 2U); // gpu0, pcie0, gpu1
    EXPECT_EQ(routes.GetDistance(0, 2), 5U); // gpu0, pcie0, cpu0, cpu1, pcie1, gpu2
    EXPECT_EQ(routes.GetDistance(0, 4), 6U); // gpu0, pcie0, nic0, leaf0, nic0, pcie0, gpu0
    EXPECT_EQ(routes.GetDistance(2, 4), 9U); // the NIC is on the other socket: 3 links more
}

TEST(ServerBuilder, PrefersNvlinkInsideAServerAndNeverLeavesThroughIt)
{
    ServerOptions server;
    server.accelerators = 4;
    server.sockets = 2;
    server.nvlink = {DataRate("600Gbps"), NanoSeconds(100)};
    const auto topology = MakeServers(2, server);
    const RoutingTables routes(topology);
    EXPECT_EQ(routes.GetDistance(0, 2), 2U);
    // 0 and 1 share a PCIe switch: two links either way.
    EXPECT_EQ(routes.GetDistance(0, 1), 2U);
    for (const auto& share : routes.GetEvenSplit(0, 1))
    {
        EXPECT_EQ(topology.GetLinks()[share.link].kind, LinkKind::Nvlink);
        EXPECT_EQ(share.share, 1.0);
    }
    for (const auto& share : routes.GetEvenSplit(2, 4))
    {
        EXPECT_NE(topology.GetLinks()[share.link].kind, LinkKind::Nvlink);
    }
}

TEST(ServerBuilder, KeepsTrafficInsideAServerWithTwoNicsOffTheLeaf)
{
    ServerOptions server;
    server.accelerators = 4;
    server.sockets = 2;
    server.nics = 2;
    const auto topology = MakeServers(1, server);
    // Over the leaf it would be 6 links: gpu, pcie0, nic0, leaf0, nic1, pcie1, gpu.
    for (const auto& share : RoutingTables(topology).GetEvenSplit(0, 3))
    {
        EXPECT_NE(topology.GetLinks()[share.link].kind, LinkKind::Host);
    }
}

TEST(ServerBuilder, SendsIntoTheNetworkWhatPcieAndNicsAllow)
{
    const auto demand = [](uint32_t accelerators, uint32_t nics) {
        Topology topology;
        ServerOptions server;
        server.accelerators = accelerators;
        server.nics = nics;
        server.pcie.rate = DataRate("16Gbps");
        return ServerBuilder(topology, server, HostLink).GetDemandBps();
    };
    EXPECT_DOUBLE_EQ(demand(1, 3), 30e9); // no PCIe in the model of a plain host
    EXPECT_DOUBLE_EQ(demand(4, 1), 10e9); // the NIC limits: 64 > 10
    EXPECT_DOUBLE_EQ(demand(2, 4), 32e9); // PCIe limits: 2 * 16 < 40
}

TEST(ServerBuilder, NamesWhatIsWrong)
{
    const auto error = [](auto change) {
        ServerOptions server;
        server.accelerators = 4;
        server.sockets = 2;
        change(server);
        try
        {
            MakeServers(1, server);
        }
        catch (const std::invalid_argument& exception)
        {
            return std::string(exception.what());
        }
        return std::string("nothing was thrown");
    };
    EXPECT_THAT(error([](auto& s) { s.sockets = 0; }), HasSubstr("server.sockets"));
    EXPECT_THAT(error([](auto& s) { s.sockets = 5; }), HasSubstr("more than its 4 accelerators"));
    EXPECT_THAT(error([](auto& s) { s.pcie.rate = DataRate(0); }), HasSubstr("server.pcie"));
    EXPECT_THAT(error([](auto& s) { s.upi.rate = DataRate(0); }), HasSubstr("server.upi"));
    EXPECT_THAT(error([](auto& s) {
                    s.nvlink = {DataRate(1), NanoSeconds(-1)};
                }),
                HasSubstr("server.nvlink: the delay"));
    EXPECT_THAT(error([](auto& s) { s.accelerators = 40'000; }), HasSubstr("32768"));
}

} // namespace
} // namespace ns3::gradsync
