// SPDX-License-Identifier: GPL-2.0-only
#include "support/message-collector.h"

#include "ns3/roce-handlers.h"

#include <array>
#include <cstdint>
#include <gtest/gtest.h>

namespace ns3::gradsync
{
namespace
{

using tests::MessageCollector;

TEST(RoceHandlers, NumbersThoseOfEachDestinationApart)
{
    std::array<MessageCollector, RoceHandlers::MAX_COUNT + 1> some;
    RoceHandlers handlers;
    EXPECT_EQ(handlers.Find(3, &some[0]), RoceHandlers::NONE);
    for (uint32_t number = 0; number < RoceHandlers::MAX_COUNT; ++number)
    {
        EXPECT_EQ(handlers.Provide(3, &some[number]), number);
    }
    for (uint32_t number = 0; number < RoceHandlers::MAX_COUNT; ++number)
    {
        EXPECT_EQ(handlers.Provide(3, &some[number]), number); // again
        EXPECT_EQ(handlers.Find(3, &some[number]), number);
        EXPECT_EQ(handlers.Get(3, number), &some[number]);
    }
    EXPECT_EQ(handlers.Find(2, &some[5]), RoceHandlers::NONE);
    EXPECT_EQ(handlers.Provide(2, &some[5]), 0U);
    EXPECT_EQ(handlers.Find(3, &some[5]), 5U);
}

TEST(RoceHandlers, GivesNoNumberToOneMoreThanItCanName)
{
    std::array<MessageCollector, RoceHandlers::MAX_COUNT + 1> some;
    RoceHandlers handlers;
    for (auto& handler : some)
    {
        handlers.Provide(0, &handler);
    }
    EXPECT_EQ(handlers.Provide(0, &some.back()), RoceHandlers::NONE);
    EXPECT_EQ(handlers.Find(0, &some.back()), RoceHandlers::NONE);
    EXPECT_EQ(handlers.Find(0, &some[RoceHandlers::MAX_COUNT - 1]), RoceHandlers::MAX_COUNT - 1);
    EXPECT_EQ(handlers.Provide(1, &some.back()), 0U);
}

} // namespace
} // namespace ns3::gradsync
