// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/philox.h"

#include <gmock/gmock.h>
#include <iterator>
#include <set>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;

TEST(Philox, GivesTheKnownAnswersOfRandom123)
{
    // Random123, kat_vectors, "philox4x32 10": all zeros, all ones, and digits of pi.
    EXPECT_THAT(Philox4x32({{0, 0, 0, 0}}, {{0, 0}}).words,
                ElementsAre(0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U));
    constexpr uint32_t ONES = 0xffffffffU;
    EXPECT_THAT(Philox4x32({{ONES, ONES, ONES, ONES}}, {{ONES, ONES}}).words,
                ElementsAre(0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU));
    EXPECT_THAT(Philox4x32({{0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}},
                           {{0xa4093822U, 0x299f31d0U}})
                    .words,
                ElementsAre(0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U));
}

TEST(Philox, UnitNumbersAreBelowOneAndExact)
{
    EXPECT_EQ(ToUnitInterval(0), 0.0F);
    EXPECT_EQ(ToUnitInterval(0xffU), 0.0F);
    EXPECT_EQ(ToUnitInterval(0x80000000U), 0.5F);
    EXPECT_EQ(ToUnitInterval(0xffffffffU), 1.0F - 0x1p-24F);
}

TEST(Philox, EachWordOfCounterAndKeyCounts)
{
    // A permutation for each key: equal blocks would be a fault, of different keys a chance of
    // 2^-128.
    std::set<std::vector<uint32_t>> seen;
    const auto add = [&seen](const PhiloxBlock& counter, const PhiloxKey& key) {
        const auto block = Philox4x32(counter, key);
        seen.emplace(std::begin(block.words), std::end(block.words));
    };
    add({{0, 0, 0, 0}}, {{0, 0}});
    add({{1, 0, 0, 0}}, {{0, 0}});
    add({{0, 1, 0, 0}}, {{0, 0}});
    add({{0, 0, 1, 0}}, {{0, 0}});
    add({{0, 0, 0, 1}}, {{0, 0}});
    add({{0, 0, 0, 0}}, {{1, 0}});
    add({{0, 0, 0, 0}}, {{0, 1}});
    EXPECT_EQ(seen.size(), 7U);
}

} // namespace
} // namespace ns3::gradsync
