// SPDX-License-Identifier: GPL-2.0-only
// Several accelerators behind one NIC, and PASSING, which adds them up before the switch does. Part
// of slot-aggregation-test.
#include "unit/aggregation/slot-aggregation-fixture.h"

#include "ns3/plan-statistics.h"
#include "ns3/plan-verifier.h"

#include <gmock/gmock.h>

namespace ns3::gradsync
{
namespace
{

TEST_F(SlotAggregationTest, SendsEachAcceleratorOfAServerItsOwnCopy)
{
    // Two servers of two accelerators: what two accelerators send meets at the one NIC, and so do
    // the results for them.
    InstallServers(2, 2);
    const auto time = Run(MakeJob(4, 50 * PACKET_BYTES)).front();
    EXPECT_GT(time, MicroSeconds(100));
    EXPECT_LT(time, MicroSeconds(2 * 50 + 15));
    EXPECT_EQ(GetHostLinkBytes(),
              uint64_t{2} * 2 * 2 * 50 * PACKET_BYTES); // servers, accelerators, directions
}

class PassingTest : public SlotAggregationTest
{
};

TEST_F(PassingTest, SendsTheGradientThroughTheNicOnceWhateverTheNumberOfAccelerators)
{
    Set("Values", StringValue("real"));
    InstallServers(3, 4);
    const auto bytes = 40 * PACKET_BYTES;
    const auto time = Run(MakeJob("passing", MakeServerRequest("passing", 3, 4, bytes), 2)).front();
    EXPECT_EQ(GetHostLinkBytes(), uint64_t{2} * 3 * 2 * bytes); // iterations, servers, directions
    EXPECT_GT(time, MicroSeconds(40 + 1 + 4));                  // the NIC alone
    EXPECT_LT(time, MicroSeconds(40 + 1 + 4 + 20));
    const auto statistics = m_transport->GetAggregation()->GetStatistics();
    EXPECT_EQ(statistics.checkedSums, 2U * 3 * 40);
    EXPECT_EQ(statistics.wrongSums, 0U);
}

TEST_F(PassingTest, AggregatesTheSlicesOfServersInSeveralPartsAndPieces)
{
    auto request = MakeServerRequest("passing", 3, 2, 48);
    request.parameters.Set("switches", int64_t{2});
    request.parameters.Set("pipelineChunks", int64_t{3});
    const auto plan = FindScheme("passing")->build(request);
    // A group for each slice and part, of the accelerators that own the slice.
    ASSERT_EQ(plan.GetAggregationGroups().size(), 4U);
    EXPECT_THAT(plan.GetAggregationGroups()[1], testing::ElementsAre(0, 2, 4));
    EXPECT_THAT(plan.GetAggregationGroups()[2], testing::ElementsAre(1, 3, 5));
    EXPECT_TRUE(PlanVerifier().Verify(plan).ok);
    const auto statistics = ComputePlanStatistics(plan, request.groups);
    // Half of 48 bytes to and from the neighbour, half through the switch: 24 + 24 + 24.
    EXPECT_THAT(statistics.sentBytes, testing::Each(24U + 24 + 24));
    EXPECT_EQ(statistics.crossings[0].bytes, 3U * 48);
    EXPECT_EQ(statistics.GetLongestChain(), 3U);
}

TEST_F(PassingTest, SurvivesLoss)
{
    SetLoss(0.1);
    m_transport->SetAttribute("Timeout", StringValue("100us"));
    m_transport->SetAttribute("RetryLimit", UintegerValue(1000));
    InstallServers(3, 2);
    Run(MakeJob("passing", MakeServerRequest("passing", 3, 2, 40 * PACKET_BYTES), 2));
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().checkedSums, 2U * 3 * 40);
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().wrongSums, 0U);
}

} // namespace
} // namespace ns3::gradsync
