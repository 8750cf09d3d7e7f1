// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/scenario-warnings.h"
#include "ns3/star-topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ns3::gradsync
{
namespace
{

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Topology
MakeServers(const DataRate& nic, const DataRate& pcie)
{
    ServerOptions server;
    server.accelerators = 4;
    server.nics = 2;
    server.pcie.rate = pcie;
    return MakeStarTopology({.hosts = 2, .hostLink = {nic, MicroSeconds(1)}, .server = server});
}

// PCIe 4.0 x16 is 16 lanes of 16 GT/s by 128/130: 252 Gb/s, enough for 200 and not for 400.
TEST(ScenarioWarnings, NameNicsThatPcieBounds)
{
    const DataRate pcie(252'061'538'461);
    EXPECT_THAT(FindSlowNics(MakeServers(DataRate("200Gbps"), pcie)), IsEmpty());
    EXPECT_THAT(FindSlowNics(MakeServers(DataRate("400Gbps"), pcie)),
                ElementsAre(SlowNics{252'061'538'461, 400'000'000'000, "host0.nic0"}));
    EXPECT_THAT(FindSlowNics(MakeServers(pcie, pcie)), IsEmpty());
}

TEST(ScenarioWarnings, HostsWithoutPcieAreNotNamed)
{
    EXPECT_THAT(
        FindSlowNics(MakeStarTopology(
            {.hosts = 3, .hostLink = {DataRate("800Gbps"), MicroSeconds(1)}, .server = {}})),
        IsEmpty());
}

} // namespace
} // namespace ns3::gradsync
