// SPDX-License-Identifier: GPL-2.0-only
// What is known to go wrong with a congestion control on a network, before anything is simulated.
#include "roce-fixture.h"

#include "ns3/longest-path.h"
#include "ns3/spine-leaf-topology.h"
#include "ns3/string.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CongestionConcernsTest : public RoceTransportTest
{
  protected:
    /// Of two racks of two hosts each.
    static Topology MakeRacks(const char* host, const char* trunk, const Time& delay)
    {
        SpineLeafOptions options;
        options.spines = 1;
        options.leaves = 2;
        options.hostsPerLeaf = 2;
        options.hostLink = {DataRate(host), delay};
        options.fabricLink = {DataRate(trunk), delay};
        return MakeSpineLeafTopology(options);
    }

    std::vector<std::string> ListConcerns(const char* control,
                                          const Topology& topology,
                                          const std::map<std::string, std::string>& settings = {})
    {
        auto transport = CreateObject<RoceTransport>();
        transport->SetAttribute("CongestionControl", StringValue(control));
        for (const auto& [name, value] : settings)
        {
            transport->GetCongestionControl(control)->SetAttribute(name, StringValue(value));
        }
        return transport->ListConcerns(topology);
    }
};

TEST_F(CongestionConcernsTest, TheLongestPathCrossesTheSpine)
{
    std::mt19937 random(20261123);
    for (int round = 0; round < 20; ++round)
    {
        const auto host = 1 + random() % 400;
        const auto trunk = 1 + random() % 400;
        const auto delayNs = random() % 5000;
        const auto path = FindLongestPath(MakeRacks((std::to_string(host) + "Gbps").c_str(),
                                                    (std::to_string(trunk) + "Gbps").c_str(),
                                                    NanoSeconds(delayNs)),
                                          4000,
                                          100);
        // Host, leaf, spine, leaf, host: 4 links, two of either rate; 8 delays there and back.
        EXPECT_EQ(path.hops, 4U);
        EXPECT_EQ(path.lineRate, static_cast<double>(host) * 1e9);
        EXPECT_EQ(path.lowestRate, static_cast<double>(std::min(host, trunk)) * 1e9);
        const double bits = 8.0 * (4000 + 100);
        const double seconds = 2 * bits / (static_cast<double>(host) * 1e9) +
                               2 * bits / (static_cast<double>(trunk) * 1e9) +
                               8e-9 * static_cast<double>(delayNs);
        EXPECT_NEAR(path.baseRtt.GetSeconds(), seconds, 1e-11);
    }
}

TEST_F(CongestionConcernsTest, SwiftsTargetIsAboveTheEmptyNetworksRoundTrip)
{
    // Target: 25 us + 4 links of 1 us. 8 delays of 3 us leave 5 us for two packets at 100 Gb/s, of
    // 4178 + 82 B: 2.7 us on 4 links in all. 8 of 4 us are more than the target.
    EXPECT_THAT(ListConcerns("swift", MakeRacks("100Gbps", "100Gbps", MicroSeconds(3))), IsEmpty());
    EXPECT_THAT(ListConcerns("swift", MakeRacks("100Gbps", "100Gbps", MicroSeconds(4))),
                ElementsAre(HasSubstr("swift's target of 29 us over 4 links")));
    EXPECT_THAT(ListConcerns("swift",
                             MakeRacks("100Gbps", "100Gbps", MicroSeconds(4)),
                             {{"BaseTarget", "40us"}}),
                IsEmpty());
}

TEST_F(CongestionConcernsTest, TimelyCollapsesBeforeASlowerLink)
{
    const auto slow = MakeRacks("100Gbps", "25Gbps", MicroSeconds(1));
    EXPECT_THAT(ListConcerns("timely", slow),
                ElementsAre(HasSubstr("a flow of 100 Gb/s meets a link of 25")));
    EXPECT_THAT(ListConcerns("timely", slow, {{"Updates", "round-trip"}}), IsEmpty());
    EXPECT_THAT(ListConcerns("timely", MakeRacks("100Gbps", "100Gbps", MicroSeconds(1))),
                IsEmpty());
    // 8 delays of 7 us are above T_low = 50 us.
    EXPECT_THAT(ListConcerns("timely", MakeRacks("100Gbps", "100Gbps", MicroSeconds(7))),
                ElementsAre(HasSubstr("lower threshold of 50 us")));
}

TEST_F(CongestionConcernsTest, StepsForSlowerNicsAreNamed)
{
    const auto fast = MakeRacks("100Gbps", "100Gbps", MicroSeconds(1));
    EXPECT_THAT(ListConcerns("dcqcn", fast), IsEmpty());
    EXPECT_THAT(ListConcerns("dcqcn", fast, {{"Profile", "paper"}}),
                ElementsAre(HasSubstr("dcqcn's steps are for NICs of 40 Gb/s and these have 100")));
    EXPECT_THAT(ListConcerns("dcqcn", fast, {{"Profile", "50G"}}),
                ElementsAre(HasSubstr("50 Gb/s")));
    EXPECT_THAT(ListConcerns("dcqcn", fast, {{"Profile", "100G"}}), IsEmpty());
    EXPECT_THAT(ListConcerns("none", fast), IsEmpty());
    EXPECT_THAT(ListConcerns("hpcc", fast), IsEmpty());
}

} // namespace
} // namespace ns3::gradsync
