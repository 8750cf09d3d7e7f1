// SPDX-License-Identifier: GPL-2.0-only
// The aggregators and the parameter server of ATP. Part of slot-switch-test.
#include "unit/aggregation/slot-headers.h"

#include "ns3/atp-server.h"
#include "ns3/atp-switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;

AtpHeader
MakeAtpHeader(uint32_t worker, uint32_t sequence, bool isResend = false)
{
    return {.bitmap = 1U << worker, .sequence = sequence, .job = JOB, .isResend = isResend};
}

/// What becomes of a packet of two values.
struct AtpOutcome
{
    AtpVerdict verdict;
    AtpHeader header;
    std::vector<int32_t> values;
};

AtpOutcome
SendAtp(AtpSwitch& atp, const AtpHeader& header, std::vector<int32_t> values)
{
    AtpOutcome outcome{AtpVerdict::Held, header, std::move(values)};
    outcome.verdict = atp.Contribute(7, outcome.header, outcome.values);
    return outcome;
}

TEST(AtpSwitch, SendsTheSumOnWithTheLastAndWaitsForTheAnswer)
{
    AtpSwitch atp({.aggregators = 8, .valueCount = 2});
    EXPECT_EQ(SendAtp(atp, MakeAtpHeader(0, 3), {1, 10}).verdict, AtpVerdict::Held);
    EXPECT_EQ(SendAtp(atp, MakeAtpHeader(2, 3), {2, 20}).verdict, AtpVerdict::Held);
    const auto last = SendAtp(atp, MakeAtpHeader(1, 3), {4, 40});
    EXPECT_EQ(last.verdict, AtpVerdict::Complete);
    EXPECT_EQ(last.header.bitmap, 7U);
    EXPECT_THAT(last.values, ElementsAre(7, 70));
    EXPECT_EQ(atp.GetUsed(), 1U);  // freed by the answer, not by completion
    atp.Free(MakeAtpHeader(0, 4)); // of another packet
    EXPECT_EQ(atp.GetUsed(), 1U);
    atp.Free(MakeAtpHeader(0, 3));
    EXPECT_EQ(atp.GetUsed(), 0U);
}

TEST(AtpSwitch, ForwardsWhatCollidesAsItIs)
{
    AtpSwitch atp({.aggregators = 8, .valueCount = 2});
    SendAtp(atp, MakeAtpHeader(0, 3), {1, 10});
    const auto other = SendAtp(atp, MakeAtpHeader(1, 11), {5, 5}); // 11 = 3 modulo 8
    EXPECT_EQ(other.verdict, AtpVerdict::Forward);
    EXPECT_TRUE(other.header.hasCollided);
    EXPECT_THAT(other.values, ElementsAre(5, 5));
    EXPECT_EQ(atp.GetCollisions(), 1U);
}

TEST(AtpSwitch, TakesAnAggregatorFromAPacketThatIsAWindowBehind)
{
    AtpSwitch atp({.aggregators = 8, .valueCount = 2, .window = 8});
    SendAtp(atp, MakeAtpHeader(0, 3), {1, 10}); // its answer was lost, say
    EXPECT_EQ(SendAtp(atp, MakeAtpHeader(1, 11), {5, 5}).verdict, AtpVerdict::Held);
    EXPECT_EQ(SendAtp(atp, MakeAtpHeader(0, 3), {1, 10}).verdict, AtpVerdict::Forward);
}

TEST(AtpSwitch, EvictsThePartialSumWhenAPacketIsSentAgain)
{
    AtpSwitch atp({.aggregators = 8, .valueCount = 2});
    SendAtp(atp, MakeAtpHeader(0, 3), {1, 10});
    const auto joins = SendAtp(atp, MakeAtpHeader(1, 3, true), {2, 20});
    EXPECT_EQ(joins.verdict, AtpVerdict::Evict);
    EXPECT_EQ(joins.header.bitmap, 3U);
    EXPECT_THAT(joins.values, ElementsAre(3, 30));
    EXPECT_EQ(atp.GetUsed(), 0U);
    // Nothing to evict: straight to the server, and no aggregator is taken.
    EXPECT_EQ(SendAtp(atp, MakeAtpHeader(1, 3, true), {2, 20}).verdict, AtpVerdict::Forward);
    EXPECT_EQ(atp.GetUsed(), 0U);
    // One that is in the sum already is not added again.
    SendAtp(atp, MakeAtpHeader(0, 4), {1, 10});
    const auto again = SendAtp(atp, MakeAtpHeader(0, 4, true), {1, 10});
    EXPECT_EQ(again.verdict, AtpVerdict::Evict);
    EXPECT_THAT(again.values, ElementsAre(1, 10));
}

TEST(AtpServer, CountsAPartialSumOnlyIfNoneOfItsWorkersWasCounted)
{
    AtpServer server(7, 100);
    const auto merge = [&server](uint32_t bitmap, int32_t value) {
        auto header = MakeAtpHeader(0, 3);
        header.bitmap = bitmap;
        return server.Merge(header, std::vector{value});
    };
    EXPECT_EQ(merge(1, 1), nullptr);
    EXPECT_EQ(merge(3, 100), nullptr); // overlaps: worker 0 again
    EXPECT_EQ(server.GetOverlaps(), 1U);
    EXPECT_EQ(merge(2, 2), nullptr);
    const auto* sum = merge(4, 4);
    ASSERT_NE(sum, nullptr);
    EXPECT_THAT(sum->values, ElementsAre(7));
    // Whoever asks again gets the answer again.
    EXPECT_EQ(merge(1, 1), sum);
    EXPECT_THAT(sum->values, ElementsAre(7));
}

} // namespace
} // namespace ns3::gradsync
