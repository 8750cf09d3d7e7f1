// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/capture-names.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <utility>

namespace ns3::gradsync
{

namespace
{

using testing::ElementsAre;
using testing::MatchesRegex;
using testing::SizeIs;

/// Hosts of these names, joined by links between the numbers given.
std::vector<std::string>
NamesOf(const std::vector<std::string>& hosts,
        const std::vector<std::pair<NodeId, NodeId>>& links = {{0, 1}})
{
    Topology topology;
    for (const auto& host : hosts)
    {
        topology.AddNode(host, NodeKind::Host, 0);
    }
    for (const auto& [a, b] : links)
    {
        topology.AddLink(a, b, DataRate("1Gbps"), MicroSeconds(1), LinkKind::Host);
    }
    return MakeCaptureNames(topology);
}

TEST(CaptureNamesTest, KeepNodeNamesThatAreSafe)
{
    EXPECT_THAT(NamesOf({"leaf0", "host0"}), ElementsAre("leaf0-host0", "host0-leaf0"));
    EXPECT_THAT(NamesOf({"A_1.x", "b+c,d=@"}), ElementsAre("A_1.x-b+c,d=@", "b+c,d=@-A_1.x"));
    EXPECT_THAT(NamesOf({"a", "b"}, {{0, 1}, {1, 0}}),
                ElementsAre("a-b-0", "b-a-0", "b-a-1", "a-b-1"));
}

TEST(CaptureNamesTest, LeadNowhereElse)
{
    EXPECT_THAT(NamesOf({"../../evil", "rack1/h0"}),
                ElementsAre("%2E.%2F..%2Fevil-rack1%2Fh0", "rack1%2Fh0-%2E.%2F..%2Fevil"));
    EXPECT_THAT(NamesOf({"-rf", "a\n\x1b\xc3\xa9"}),
                ElementsAre("%2Drf-a%0A%1B%C3%A9", "a%0A%1B%C3%A9-%2Drf"));
}

TEST(CaptureNamesTest, DifferWhereNodeNamesJoinToTheSame)
{
    // Both would be a-b-c.
    EXPECT_THAT(NamesOf({"a-b", "c", "a", "b-c"}, {{0, 1}, {2, 3}}),
                ElementsAre("a-b-c~0", "c-a-b", "a-b-c~2", "b-c-a"));
    // The two ends of one link.
    EXPECT_THAT(NamesOf({"x", "x-x"}), ElementsAre("x-x-x~0", "x-x-x~1"));
    // What is escaped is not what looks like it.
    EXPECT_THAT(NamesOf({"a/b", "c", "a%2Fb"}, {{0, 1}, {2, 1}}),
                ElementsAre("a%2Fb-c", "c-a%2Fb", "a%252Fb-c", "c-a%252Fb"));
}

TEST(CaptureNamesTest, FitFileSystems)
{
    const std::string longName(1000, 'x');
    const auto names = NamesOf({longName + "1", longName + "2", "h"}, {{0, 2}, {1, 2}});
    EXPECT_EQ(std::set(names.begin(), names.end()).size(), 4U);
    // 230 bytes, ~ and the port
    EXPECT_THAT(names, testing::Each(SizeIs(232)));
}

TEST(CaptureNamesTest, AreSafeAndDifferForAnyNames)
{
    // Few characters and short names, so that many join to the same.
    constexpr std::string_view ALPHABET = "aA-.~%/2F \n\xff";
    std::mt19937 random(1);
    const auto draw = [&](size_t count) { return static_cast<uint32_t>(random() % count); };
    for (int round = 0; round < 200; ++round)
    {
        std::set<std::string> hosts;
        while (hosts.size() < 12)
        {
            std::string name;
            for (auto left = 1 + draw(4); left > 0; --left)
            {
                name += ALPHABET[draw(ALPHABET.size())];
            }
            hosts.insert(name);
        }
        std::vector<std::pair<NodeId, NodeId>> links;
        while (links.size() < 30)
        {
            const auto a = draw(12);
            links.emplace_back(a, (a + 1 + draw(11)) % 12);
        }
        const std::vector<std::string> list(hosts.begin(), hosts.end());
        const auto names = NamesOf(list, links);
        ASSERT_THAT(names, SizeIs(60));
        ASSERT_EQ(std::set(names.begin(), names.end()).size(), 60U);
        ASSERT_THAT(names, testing::Each(MatchesRegex("[a-zA-Z0-9%][a-zA-Z0-9%.~-]*")));
        ASSERT_EQ(names, NamesOf(list, links));
    }
}

} // namespace

} // namespace ns3::gradsync
