// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/inner-networks.h"
#include "ns3/star-topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ns3::gradsync
{
namespace
{

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const DataRate CableRate{1'000'000'000};
const Time CableDelay = MicroSeconds(1);

/// Servers of `accelerators` at one switch, each with one NIC and CPU.
Topology
MakeInnerServers(uint32_t servers, uint32_t accelerators, bool hasNvlink)
{
    StarOptions options;
    options.hosts = servers;
    options.hostLink = {CableRate, CableDelay};
    options.server.accelerators = accelerators;
    options.server.nvlink = {hasNvlink ? CableRate : DataRate(0), NanoSeconds(100)};
    return MakeStarTopology(options);
}

TEST(InnerNetworks, AreWhatHangsOnTheNvSwitchOfAServer)
{
    const auto topology = MakeInnerServers(2, 3, true);
    const auto networks = FindInnerNetworks(topology);
    ASSERT_EQ(networks.size(), 2U);
    EXPECT_THAT(networks[0].endpoints, ElementsAre(0, 1, 2));
    EXPECT_THAT(networks[1].endpoints, ElementsAre(3, 4, 5));
    for (const auto& network : networks)
    {
        // The NVSwitch and three accelerators, a link each. PCIe leads to the NIC.
        EXPECT_EQ(network.topology.GetNodes().size(), 4U);
        ASSERT_EQ(network.links.size(), 3U);
        for (LinkId own = 0; own < network.links.size(); ++own)
        {
            const auto& link = network.topology.GetLinks()[own];
            const auto& whole = topology.GetLinks()[network.links[own]];
            EXPECT_EQ(network.topology.GetNodes()[link.a].name, topology.GetNodes()[whole.a].name);
            EXPECT_EQ(network.topology.GetNodes()[link.b].name, topology.GetNodes()[whole.b].name);
            EXPECT_EQ(link.kind, LinkKind::Nvlink);
            EXPECT_EQ(link.delay, NanoSeconds(100));
        }
        for (uint32_t own = 0; own < network.endpoints.size(); ++own)
        {
            const auto node = topology.GetEndpoints()[network.endpoints[own]];
            EXPECT_EQ(network.topology.GetNodes()[network.topology.GetEndpoints()[own]].name,
                      topology.GetNodes()[node].name);
        }
    }
}

TEST(InnerNetworks, AreNotWhereAllLinksLeadToTheNic)
{
    EXPECT_THAT(FindInnerNetworks(MakeInnerServers(2, 3, false)), IsEmpty());
    EXPECT_THAT(FindInnerNetworks(MakeInnerServers(4, 1, false)), IsEmpty());
}

TEST(InnerNetworks, AreLinksOfAMeshAndSwitchesWithoutAWayOut)
{
    // a and b share a link, b and c a switch inside the server: one network of three, of both. d
    // and e share a switch from which a cable leads to a leaf: none.
    Topology topology;
    const auto add = [&](const char* name, NodeKind kind, uint32_t tier = 0) {
        return topology.AddNode(name, kind, tier);
    };
    const auto a = add("a", NodeKind::Accelerator);
    const auto b = add("b", NodeKind::Accelerator);
    const auto inner = add("inner", NodeKind::NvSwitch);
    const auto c = add("c", NodeKind::Accelerator);
    const auto d = add("d", NodeKind::Accelerator);
    const auto e = add("e", NodeKind::Accelerator);
    const auto outer = add("outer", NodeKind::NvSwitch);
    const auto leaf = add("leaf", NodeKind::Switch, 1);
    const auto join = [&](NodeId from, NodeId to, LinkKind kind) {
        return topology.AddLink(from, to, CableRate, CableDelay, kind);
    };
    join(a, leaf, LinkKind::Host);
    const auto ab = join(a, b, LinkKind::Nvlink);
    const auto bInner = join(b, inner, LinkKind::Nvlink);
    join(d, outer, LinkKind::Nvlink);
    join(e, outer, LinkKind::Nvlink);
    join(outer, leaf, LinkKind::Host);
    const auto innerC = join(inner, c, LinkKind::Nvlink);
    const auto networks = FindInnerNetworks(topology);
    ASSERT_EQ(networks.size(), 1U);
    EXPECT_THAT(networks[0].endpoints, ElementsAre(0, 1, 2));
    EXPECT_THAT(networks[0].links, ElementsAre(ab, bInner, innerC));
}

} // namespace
} // namespace ns3::gradsync
