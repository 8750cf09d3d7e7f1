// SPDX-License-Identifier: GPL-2.0-only
// ATP: what its parameter servers get, and sums whatever is lost. Part of slot-aggregation-test.
#include "unit/aggregation/slot-aggregation-fixture.h"

#include "ns3/atp-node.h"

#include <algorithm>

namespace ns3::gradsync
{
namespace
{

/// One parameter server at the endpoint after the workers.
class AtpTest : public SlotAggregationTest
{
  protected:
    static constexpr uint64_t ATP_PACKET_BYTES = 248; // 62 integers

    void SetUp() override
    {
        SlotAggregationTest::SetUp();
        Set("Values", StringValue("real"));
    }

    static Job MakeAtpJob(uint32_t workers, uint64_t packets, uint32_t iterations = 1)
    {
        SchemeRequest request;
        request.workers = workers;
        request.gradientBytes = packets * ATP_PACKET_BYTES;
        request.parameters = MakeDefaultParameters(*FindScheme("atp"));
        return MakeJob("atp", request, iterations);
    }

    AggregationStatistics RunAtp(uint32_t workers, uint64_t packets, uint32_t iterations = 1)
    {
        Run(MakeAtpJob(workers, packets, iterations));
        const auto statistics = m_transport->GetAggregation()->GetStatistics();
        EXPECT_EQ(statistics.checkedSums, uint64_t{iterations} * workers * packets);
        EXPECT_EQ(statistics.wrongSums, 0U);
        return statistics;
    }
};

TEST_F(AtpTest, GivesTheServerTheGradientOnceWithoutCollisions)
{
    // Reference section 6, w = 4: the server receives K, 1.75 K and 4 K at f = 0, 1/4 and 1.
    InstallStar(5);
    EXPECT_EQ(RunAtp(4, 100).serverPackets, 100U);
}

TEST_F(AtpTest, GivesTheServerOneAndThreeQuartersAtACollisionShareOfAQuarter)
{
    Set("atp.BusyShare", DoubleValue(0.25));
    InstallStar(5);
    EXPECT_EQ(RunAtp(4, 100).serverPackets, 175U); // 100 (3/4 + 4/4)
}

TEST_F(AtpTest, GivesTheServerEverythingWithoutAggregators)
{
    Set("atp.Aggregators", UintegerValue(0));
    InstallStar(5);
    EXPECT_EQ(RunAtp(4, 100).serverPackets, 400U);
}

TEST_F(AtpTest, AggregatesInTheRacksAndAtTheServersSwitch)
{
    // Endpoints 0 to 5 are workers in two racks, 6 is the server, with two idle hosts.
    InstallRacks(3, 3);
    EXPECT_EQ(RunAtp(6, 100).serverPackets, 100U);
    for (const auto* leaf : {"leaf0", "leaf1", "leaf2"})
    {
        const auto& node = GetPart<AtpNode>(*m_topology->FindNode(leaf), "atp");
        EXPECT_EQ(node.GetSwitch().GetUsed(), 0U); // the answers freed all
    }
    // Each rack of workers sends one sum up, and gets one answer.
    const auto links = m_transport->GetLinkStatistics();
    const auto uplink = [&](const char* leaf) {
        const auto node = *m_topology->FindNode(leaf);
        return m_topology->GetPorts(node)[0].link;
    };
    EXPECT_EQ(links[size_t{2} * uplink("leaf0")].packets, 100U);
    EXPECT_EQ(links[size_t{2} * uplink("leaf0") + 1].packets, 100U);
}

TEST_F(AtpTest, ShardsTheGradientOverServers)
{
    InstallStar(6);
    SchemeRequest request;
    request.workers = 4;
    request.gradientBytes = 100 * ATP_PACKET_BYTES;
    request.parameters = MakeDefaultParameters(*FindScheme("atp"));
    request.parameters.Set("servers", int64_t{2});
    Run(MakeJob("atp", request, 1));
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().wrongSums, 0U);
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().serverPackets, 100U);
}

TEST_F(AtpTest, HalvesItsWindowsWhereTheServersLinkIsFull)
{
    // Without aggregators three workers of full rate meet at one link.
    Set("atp.Aggregators", UintegerValue(0));
    InstallStar(4);
    RunAtp(3, 2000);
    EXPECT_GT(m_transport->GetStatistics().ecnMarkedPackets, 0U);
    uint64_t most = 0;
    for (const auto& link : m_transport->GetLinkStatistics())
    {
        most = std::max(most, link.maxQueueBytes);
    }
    EXPECT_LT(most, 3U * 100 * 332); // three whole windows, without backing off
}

class AtpLoss : public AtpTest, public testing::WithParamInterface<int>
{
  protected:
    void SetUp() override
    {
        AtpTest::SetUp();
        SetLoss(GetParam() / 100.0);
        Set("atp.FirstTimeout", StringValue("300us"));
        Set("atp.Timeout", StringValue("100us"));
        // At 40 % only 0.6^8 = 1.7 % of the questions to a server four links away are answered.
        Set("RetryLimit", UintegerValue(2000));
    }
};

TEST_P(AtpLoss, LeavesEveryWorkerWithTheExactSumOfAll)
{
    InstallStar(6);
    EXPECT_GT(RunAtp(5, 100, 2).retransmissions, 0U);
}

TEST_P(AtpLoss, LeavesEveryWorkerWithTheExactSumOverTwoLevels)
{
    Set("atp.BusyShare", DoubleValue(0.25));
    InstallRacks(3, 2);
    EXPECT_GT(RunAtp(5, 100, 2).retransmissions, 0U);
}

INSTANTIATE_TEST_SUITE_P(Percent, AtpLoss, testing::Values(1, 5, 10, 20, 40));

} // namespace
} // namespace ns3::gradsync
