// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-contents.h"

#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

using testing::ElementsAre;
using testing::IsEmpty;

struct Header
{
    uint64_t sequence;
    uint16_t job;
};

TEST(AggregationContentsTest, CrossToAnotherProcessInTheirOrder)
{
    AggregationContents here;
    FabricPacket first{};
    FabricPacket second{};
    auto& sent = here.Attach(first);
    sent.driver = 3;
    sent.As<Header>() = {.sequence = 1ULL << 40, .job = 7};
    sent.values = {-1, INT32_MAX};
    auto& framed = here.Attach(second);
    framed.driver = AggregationPacket::NO_DRIVER;
    framed.values.clear();
    framed.frame = {1, 2, 3};
    framed.framedBy = 9;
    ByteBatch batch;
    here.Write(first.feedback, batch);
    here.Write(second.feedback, batch);

    AggregationContents there;
    FabricPacket other{};
    there.Attach(other);
    BatchReader reader(batch);
    FabricPacket arrived{};
    arrived.feedback = there.Read(reader);
    EXPECT_NE(arrived.feedback, other.feedback);
    const auto& got = there.Get(arrived);
    EXPECT_EQ(got.driver, 3);
    EXPECT_EQ(got.As<Header>().sequence, 1ULL << 40);
    EXPECT_EQ(got.As<Header>().job, 7);
    EXPECT_THAT(got.values, ElementsAre(-1, INT32_MAX));
    EXPECT_THAT(got.frame, IsEmpty());
    arrived.feedback = there.Read(reader);
    const auto& last = there.Get(arrived);
    EXPECT_EQ(last.driver, AggregationPacket::NO_DRIVER);
    EXPECT_THAT(last.values, IsEmpty());
    EXPECT_THAT(last.frame, ElementsAre(1, 2, 3));
    EXPECT_EQ(last.framedBy, 9U);
    EXPECT_TRUE(reader.IsAtEnd());
    EXPECT_THROW(there.Read(reader), std::runtime_error);
}

} // namespace

} // namespace ns3::gradsync
