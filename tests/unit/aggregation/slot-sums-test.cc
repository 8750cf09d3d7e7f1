// SPDX-License-Identifier: GPL-2.0-only
// Sums that are wrong, and sums that overflow. Part of slot-aggregation-test.
#include "unit/aggregation/slot-aggregation-fixture.h"

#include "ns3/boolean.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/slot-tensor.h"

#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;

/// Adds one to a value of what comes to an endpoint, once.
class Corrupter final : public PacketReceiver
{
  public:
    Corrupter(PacketReceiver* next, AggregationContents& contents)
        : m_next(next),
          m_contents(contents)
    {
    }

    void Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now) override
    {
        auto& values = m_contents.Get(*packet).values;
        values[5] += m_count++ == 2 ? 1 : 0;
        m_next->Receive(packet, endpoint, now);
    }

  private:
    PacketReceiver* m_next;
    AggregationContents& m_contents;
    uint32_t m_count{0};
};

TEST_F(SlotAggregationTest, FailsTheJobWhoseSumIsWrong)
{
    Set("Values", StringValue("real"));
    InstallStar(3);
    m_engine->AddJob(MakeJob(3, 10 * PACKET_BYTES));
    const auto fabric = m_transport->GetFabric();
    Corrupter corrupter(fabric->GetSink(1), GetAggregation()->GetContents());
    fabric->SetSink(1, &corrupter);
    EXPECT_TRUE(Run().empty());
    ASSERT_TRUE(m_engine->GetFailure());
    EXPECT_THAT(
        m_engine->GetFailure()->reason,
        HasSubstr("#1 aggregate at rank 1: wrong sum at worker 1: value 5 of packet 2 is "));
    EXPECT_EQ(m_transport->GetAggregation()->GetStatistics().wrongSums, 1U);
}

TEST_F(SlotAggregationTest, FailsTheJobWhoseSumOverflows)
{
    // Of two workers with all of int32 a quarter of the sums overflow: some of 64 always does.
    Set("Values", StringValue("real"));
    Set("ValueBits", UintegerValue(31));
    InstallStar(2);
    m_engine->AddJob(MakeJob(2, 10 * PACKET_BYTES));
    EXPECT_TRUE(Run().empty());
    ASSERT_TRUE(m_engine->GetFailure());
    EXPECT_THAT(m_engine->GetFailure()->reason, HasSubstr("sum beyond int32 at worker "));
}

TEST_F(SlotAggregationTest, CountsOverflowThatIsExpected)
{
    for (const bool saturates : {false, true})
    {
        Set("Values", StringValue("real"));
        Set("ValueBits", UintegerValue(31));
        Set("Overflow", StringValue("count"));
        Set("Saturate", BooleanValue(saturates));
        InstallStar(3);
        EXPECT_EQ(Run(MakeJob(3, 10 * PACKET_BYTES)).size(), 1U);
        const auto statistics = m_transport->GetAggregation()->GetStatistics();
        EXPECT_EQ(statistics.overflowedSums, 3U * 10);
        EXPECT_EQ(statistics.wrongSums, 0U);
        TearDown();
        SetUp();
    }
}

TEST(SlotTensor, ValuesFollowFromTheSeed)
{
    const auto fill = [](uint32_t seed) {
        RngSeedManager::SetSeed(seed);
        SlotTensor tensor(3, {2, 8, false}, 20);
        std::vector<int32_t> values;
        tensor.Fill(1, 0, values);
        return values;
    };
    const auto first = fill(1);
    EXPECT_NE(first, fill(2));
    EXPECT_NE(fill(2), fill(3));
    EXPECT_EQ(first, fill(1));
}

TEST(SlotTensor, TellsOverflowFromAWrongSum)
{
    SlotTensor tensor(0, {2, 1, false}, 31);
    uint64_t packet = 0; // the first whose sum int32 cannot hold
    std::vector<int32_t> values;
    int64_t sum = 0;
    for (; std::abs(sum) <= INT32_MAX; ++packet)
    {
        tensor.Fill(0, packet, values);
        sum = values[0];
        tensor.Fill(1, packet, values);
        sum += values[0];
    }
    --packet;
    values[0] = static_cast<int32_t>(sum); // modulo 2^32
    EXPECT_EQ(tensor.Check(packet, values, true), SumVerdict::Overflowed);
    EXPECT_EQ(tensor.Check(packet, values, false), SumVerdict::Wrong); // nobody said so
    ++values[0];
    EXPECT_EQ(tensor.Check(packet, values, true), SumVerdict::Wrong);
    EXPECT_EQ(tensor.DescribeDifference(packet, values),
              fmt::format("value 0 of packet {} is {}, the sum is {}", packet, values[0], sum));
}

} // namespace
} // namespace ns3::gradsync
