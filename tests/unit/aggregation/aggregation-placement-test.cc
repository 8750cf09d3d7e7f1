// SPDX-License-Identifier: GPL-2.0-only
// Networks of which not all switches can aggregate. Part of aggregation-tests.
#include "unit/aggregation/slot-aggregation-fixture.h"

#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

/// Four racks of two hosts below one spine.
class AggregationPlacement : public SlotAggregationTest
{
  protected:
    static constexpr uint32_t RACKS = 4;
    static constexpr uint64_t BYTES = 40 * PACKET_BYTES;

    void SetUp() override
    {
        SlotAggregationTest::SetUp();
        Set("Values", StringValue("real"));
    }

    /// What each leaf sends to the spine, in gradients.
    std::vector<uint64_t> CountSent()
    {
        InstallRacks(RACKS, 2);
        Run(MakeJob(2 * RACKS, BYTES));
        EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().wrongSums, 0U);
        std::vector<uint64_t> sent;
        const auto links = m_transport->GetLinkStatistics();
        for (LinkId link = 0; link < m_topology->GetLinks().size(); ++link)
        {
            const auto& of = m_topology->GetLinks()[link];
            if (of.kind == LinkKind::Fabric)
            {
                const bool isForward = m_topology->GetNodes()[of.a].tier == 1;
                sent.push_back(links[size_t{2} * link + (isForward ? 0 : 1)].payloadBytes / BYTES);
            }
        }
        return sent;
    }
};

TEST_F(AggregationPlacement, EveryLeafSendsOneSumWhereAllCan)
{
    EXPECT_THAT(CountSent(), testing::ElementsAre(1, 1, 1, 1));
}

TEST_F(AggregationPlacement, LeavesHandOnWhereOnlySpinesCan)
{
    Set("Tier", StringValue("spine"));
    EXPECT_THAT(CountSent(), testing::ElementsAre(2, 2, 2, 2));
}

TEST_F(AggregationPlacement, ALeafIsTheRootWhereOnlyLeavesCan)
{
    // It answers each of the three other leaves, and they send it one sum each.
    Set("Tier", StringValue("leaf"));
    EXPECT_THAT(CountSent(), testing::UnorderedElementsAre(1, 1, 1, 3));
}

TEST_F(AggregationPlacement, HalfOfTheLeavesAreEverySecondOne)
{
    // Of the one spine half is none: the root is leaf1 or leaf3, which answers another leaf that
    // aggregates and four hosts below others.
    Set("Share", DoubleValue(0.5));
    EXPECT_THAT(CountSent(), testing::UnorderedElementsAre(1, 2, 2, 5));
}

TEST_F(AggregationPlacement, NoneIsRefused)
{
    Set("Share", DoubleValue(0.0));
    InstallRacks(RACKS, 2);
    EXPECT_THAT([this] { m_engine->AddJob(MakeJob(2 * RACKS, BYTES)); },
                testing::ThrowsMessage<std::runtime_error>(
                    testing::HasSubstr("no switch of the network reaches all workers")));
}

} // namespace
} // namespace ns3::gradsync
