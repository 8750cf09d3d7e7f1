// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/star-topology.h"
#include "ns3/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

namespace ns3::gradsync
{
namespace
{

using ::testing::HasSubstr;

const DataRate LINK_RATE{1'000'000'000};
const Time LINK_DELAY = MicroSeconds(1);

/// The text of the std::invalid_argument that `action` throws; a test fails when it throws none.
template <typename Action>
std::string
GetError(Action action)
{
    try
    {
        action();
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

TEST(Topology, NumbersEndpointsInOrderOfAdditionAndSkipsSwitches)
{
    Topology topology;
    topology.AddNode("s", NodeKind::Switch, 1);
    const auto host = topology.AddNode("h", NodeKind::Host, 0);
    topology.AddNode("n", NodeKind::Nic, 0);
    const auto gpu = topology.AddNode("g", NodeKind::Accelerator, 0);
    EXPECT_THAT(topology.GetEndpoints(), ::testing::ElementsAre(host, gpu));
    EXPECT_EQ(topology.FindNode("g"), gpu);
    EXPECT_EQ(topology.FindNode("gpu"), std::nullopt);
}

TEST(Topology, KeepsParallelLinksAsPortsOfTheirOwn)
{
    Topology topology;
    const auto a = topology.AddNode("a", NodeKind::Host, 0);
    const auto b = topology.AddNode("b", NodeKind::Switch, 1);
    topology.AddLink(a, b, LINK_RATE, LINK_DELAY, LinkKind::Host);
    topology.AddLink(b, a, LINK_RATE, LINK_DELAY, LinkKind::Host);
    ASSERT_EQ(topology.GetPorts(a).size(), 2U);
    EXPECT_EQ(topology.GetPorts(a)[0].link, 0U);
    EXPECT_EQ(topology.GetPorts(a)[1].link, 1U);
    EXPECT_EQ(topology.GetPorts(a)[1].peer, b);
    EXPECT_EQ(topology.GetPorts(b)[1].peer, a);
}

TEST(Topology, RejectsDuplicateAndEmptyNames)
{
    Topology topology;
    topology.AddNode("leaf0", NodeKind::Switch, 1);
    EXPECT_THAT(GetError([&] { topology.AddNode("leaf0", NodeKind::Host, 0); }),
                HasSubstr("leaf0"));
    EXPECT_THAT(GetError([&] { topology.AddNode("", NodeKind::Host, 0); }), HasSubstr("empty"));
    EXPECT_EQ(topology.GetNodes().size(), 1U);
}

TEST(Topology, RejectsLinksThatCannotExist)
{
    Topology topology;
    const auto a = topology.AddNode("a", NodeKind::Host, 0);
    const auto b = topology.AddNode("b", NodeKind::Switch, 1);
    const auto add = [&](NodeId from, NodeId to, DataRate rate, Time delay) {
        return GetError([&] { topology.AddLink(from, to, rate, delay, LinkKind::Host); });
    };
    EXPECT_THAT(add(a, 7, LINK_RATE, LINK_DELAY), HasSubstr("node 7"));
    EXPECT_THAT(add(a, a, LINK_RATE, LINK_DELAY), HasSubstr("itself"));
    EXPECT_THAT(add(a, b, DataRate(0), LINK_DELAY), HasSubstr("rate of 0"));
    EXPECT_THAT(add(a, b, LINK_RATE, MicroSeconds(-1)), HasSubstr("negative delay"));
    EXPECT_TRUE(topology.GetLinks().empty());
    EXPECT_TRUE(topology.GetPorts(a).empty());
}

TEST(Topology, NumbersPortsInSixteenBitsAndRejectsMore)
{
    Topology topology;
    const auto a = topology.AddNode("a", NodeKind::Host, 0);
    const auto b = topology.AddNode("b", NodeKind::Switch, 1);
    for (uint32_t link = 0; link < 65535; ++link)
    {
        topology.AddLink(a, b, LINK_RATE, LINK_DELAY, LinkKind::Host);
    }
    EXPECT_THROW(topology.AddLink(a, b, LINK_RATE, LINK_DELAY, LinkKind::Host),
                 std::invalid_argument);
}

TEST(Topology, NamesAnEndpointThatIsCutOff)
{
    auto topology =
        MakeStarTopology({.hosts = 3, .hostLink = {LINK_RATE, LINK_DELAY}, .server = {}});
    EXPECT_NO_THROW(topology.CheckConnected());
    topology.AddNode("lonely", NodeKind::Host, 0);
    EXPECT_THAT(GetError([&] { topology.CheckConnected(); }),
                HasSubstr("lonely cannot reach host0"));
}

TEST(Topology, NamesTheCutOffEndpointWhenItIsTheFirst)
{
    Topology topology;
    topology.AddNode("lonely", NodeKind::Host, 0);
    const auto leaf = topology.AddNode("leaf", NodeKind::Switch, 1);
    for (const auto* name : {"x", "y"})
    {
        topology.AddLink(topology.AddNode(name, NodeKind::Host, 0),
                         leaf,
                         LINK_RATE,
                         LINK_DELAY,
                         LinkKind::Host);
    }
    EXPECT_THAT(GetError([&] { topology.CheckConnected(); }), HasSubstr("lonely cannot reach x"));
}

TEST(Topology, DoesNotForwardThroughEndpoints)
{
    // a - b - c in a row: b is an endpoint and does not forward, so a and c are apart.
    Topology topology;
    const auto a = topology.AddNode("a", NodeKind::Host, 0);
    const auto b = topology.AddNode("b", NodeKind::Host, 0);
    const auto c = topology.AddNode("c", NodeKind::Host, 0);
    topology.AddLink(a, b, LINK_RATE, LINK_DELAY, LinkKind::Host);
    topology.AddLink(b, c, LINK_RATE, LINK_DELAY, LinkKind::Host);
    EXPECT_THAT(GetError([&] { topology.CheckConnected(); }), HasSubstr("c cannot reach a"));
    topology.AddLink(a, c, LINK_RATE, LINK_DELAY, LinkKind::Host);
    EXPECT_NO_THROW(topology.CheckConnected());
}

TEST(Topology, WithoutEndpointsIsNoNetwork)
{
    Topology topology;
    EXPECT_THAT(GetError([&] { topology.CheckConnected(); }), HasSubstr("no endpoint"));
}

TEST(StarTopology, HasOneSwitchAndALinkPerHost)
{
    const auto topology =
        MakeStarTopology({.hosts = 5, .hostLink = {LINK_RATE, LINK_DELAY}, .server = {}});
    EXPECT_EQ(topology.GetNodes().size(), 6U);
    EXPECT_EQ(topology.GetLinks().size(), 5U);
    EXPECT_EQ(topology.GetNodes()[0].name, "leaf0");
    EXPECT_EQ(topology.GetNodes()[5].name, "host4");
    EXPECT_EQ(topology.GetLinks()[4].rate, LINK_RATE);
    EXPECT_EQ(topology.GetLinks()[4].delay, LINK_DELAY);
    EXPECT_EQ(topology.GetLinks()[4].kind, LinkKind::Host);
}

TEST(StarTopology, RejectsZeroValues)
{
    EXPECT_THAT(GetError([] {
                    MakeStarTopology({.hostLink = {LINK_RATE, LINK_DELAY}, .server = {}});
                }),
                HasSubstr("hosts must be at least 1"));
    EXPECT_THAT(GetError([] { MakeStarTopology({.hosts = 2, .hostLink = {}, .server = {}}); }),
                HasSubstr("hostLink: the rate"));
    EXPECT_THAT(
        GetError([] {
            MakeStarTopology({.hosts = 2, .hostLink = {LINK_RATE, MicroSeconds(-1)}, .server = {}});
        }),
        HasSubstr("hostLink: the delay"));
    // Refused before any memory is taken.
    EXPECT_THAT(GetError([] {
                    MakeStarTopology({.hosts = 4'000'000'000,
                                      .hostLink = {LINK_RATE, LINK_DELAY},
                                      .server = {}});
                }),
                HasSubstr("32768"));
}

} // namespace
} // namespace ns3::gradsync
