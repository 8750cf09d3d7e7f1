// SPDX-License-Identifier: GPL-2.0-only
// signSGD: signs, and the vote of a majority.
#include "support/nasty-gradients.h"

#include "ns3/quantisers.h"
#include "ns3/stochastic-quantisers.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <random>
#include <stdexcept>

namespace ns3::gradsync
{
namespace
{

using testing::Each;
using testing::ElementsAre;

constexpr float LARGEST = std::numeric_limits<float>::max();

TEST(Signs, OfZerosAndNanAreFairCoins)
{
    constexpr size_t COUNT = 100'000;
    std::vector<float> values(COUNT, 0.0F);
    values[1] = -0.0F;
    values[2] = std::numeric_limits<float>::quiet_NaN();
    std::vector<uint32_t> words(CountBlocks(COUNT, 32));
    EncodeSigns(values, {9, 4}, words);
    std::vector<float> decoded(COUNT);
    DecodeSigns(words, 0.5F, decoded);
    const auto negative = static_cast<double>(std::ranges::count(decoded, -0.5F));
    EXPECT_EQ(std::ranges::count(decoded, 0.5F) + static_cast<ptrdiff_t>(negative), COUNT);
    // A binomial of deviation sqrt(n) / 2; 5 of them.
    EXPECT_NEAR(negative, COUNT / 2.0, 5 * std::sqrt(COUNT) / 2);
    values.assign(COUNT, LARGEST);
    values[7] = -std::numeric_limits<float>::infinity();
    EncodeSigns(values, {9, 4}, words);
    EXPECT_EQ(words[0], 1U << 7);
    EXPECT_THAT(std::span(words).subspan(1), Each(0U));
}

TEST(Majority, IsTheSignOfTheSumOfAllSigns)
{
    std::mt19937 generator(17);
    for (const uint32_t voters : {1U, 2U, 3U, 4U, 7U, 8U, 64U, 255U, 256U, 1000U})
    {
        const size_t count = 1 + generator() % 500;
        std::vector<std::vector<uint32_t>> messages;
        std::vector<float> sum(count, 0.0F);
        for (uint32_t voter = 0; voter < voters; ++voter)
        {
            messages.emplace_back(CountBlocks(count, 32));
            std::vector<float> decoded(count);
            EncodeSigns(MakeRandomGradient(count, generator()), {voter, 1}, messages.back());
            DecodeSigns(messages.back(), 1.0F, decoded);
            std::transform(sum.begin(), sum.end(), decoded.begin(), sum.begin(), std::plus<>());
        }
        const std::vector<std::span<const uint32_t>> votes(messages.begin(), messages.end());
        std::vector<uint32_t> majority(CountBlocks(count, 32), 0xdeadbeefU);
        const RandomStream server{99, 5};
        CountMajority(votes, server, majority, 1);
        // By the codec itself, whose coins for sums of 0 are those of ties.
        std::vector<uint32_t> expected(majority.size());
        EncodeSigns(sum, server, expected);
        EXPECT_EQ(majority, expected) << voters;
        for (size_t i = 0; i < count; ++i)
        {
            const bool isNegative = (majority[i / 32] >> (i % 32) & 1U) != 0;
            ASSERT_TRUE(sum[i] == 0 || isNegative == (sum[i] < 0));
            ASSERT_TRUE(sum[i] != 0 || voters % 2 == 0);
        }
        CountMajority(votes, server, expected, 3);
        EXPECT_EQ(majority, expected) << voters;
    }
}

TEST(Majority, CountsUpToItsMostVotersAndRefusesMore)
{
    const std::vector<uint32_t> all{~0U, 0U};
    const std::vector<uint32_t> none{0U, 0U};
    std::vector<std::span<const uint32_t>> votes(MAX_VOTERS, all);
    std::fill_n(votes.begin(), MAX_VOTERS / 2, none);
    std::vector<uint32_t> words(2);
    CountMajority(votes, {}, words);
    EXPECT_THAT(words, ElementsAre(~0U, 0U)); // 2048 of 4095
    votes[MAX_VOTERS / 2] = none;
    CountMajority(votes, {}, words);
    EXPECT_THAT(words, ElementsAre(0U, 0U)); // 2047
    votes.push_back(all);
    EXPECT_THROW(CountMajority(votes, {}, words), std::invalid_argument);
    EXPECT_THROW(CountMajority({}, {}, words), std::invalid_argument);
}

} // namespace
} // namespace ns3::gradsync
