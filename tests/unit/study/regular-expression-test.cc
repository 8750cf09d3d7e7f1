// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/regular-expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <stdexcept>
#include <string>

namespace ns3::gradsync
{
namespace
{

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RegularExpression, FindsTheFirstPlaceAndItsGroups)
{
    EXPECT_THAT(FindGroups("rank ([0-9]+) .*signal ([0-9]+)", "a\nrank 12 b\nsignal 9\nrank 3"),
                ElementsAre("rank 12 b\nsignal 9", "12", "9"));
    EXPECT_THAT(FindGroups("a([0-9])?(b)?", "xab"), ElementsAre("ab", "", "b"));
    EXPECT_THAT(FindGroups("[0-9]", "none"), IsEmpty());
    EXPECT_THAT(FindGroups("x*", ""), ElementsAre("")); // fits, and fits nothing
}

TEST(RegularExpression, OfAlternativesTheWholeTextCounts)
{
    EXPECT_TRUE(FitsWhole("s|ms|us", "ms"));
    EXPECT_TRUE(FitsWhole("m|ms", "ms"));
    EXPECT_FALSE(FitsWhole("s|ms|us", "mss"));
    EXPECT_FALSE(FitsWhole("s|ms|us", "xs"));
    EXPECT_FALSE(FitsWhole("s|ms|us", "s\n"));
    EXPECT_FALSE(FitsWhole("s|ms|us", std::string("s\0x", 3)));
}

TEST(RegularExpression, CountsWhatIsRepeated)
{
    std::mt19937 random(1);
    for (int i = 0; i < 200; ++i)
    {
        // As many digits as drawn, 0 to 25, in half of the texts one of them a letter.
        std::string text;
        for (auto left = random() % 26; left > 0; --left)
        {
            text += static_cast<char>('0' + random() % 10);
        }
        const bool isSpoilt = !text.empty() && random() % 2 == 0;
        if (isSpoilt)
        {
            text[random() % text.size()] = 'x';
        }
        const bool fits = !isSpoilt && !text.empty() && text.size() <= 18;
        EXPECT_EQ(FitsWhole("[0-9]{1,18}", text), fits) << text;
    }
}

TEST(RegularExpression, ABrokenExpressionIsRefused)
{
    EXPECT_THROW(FindGroups("(a", "a"), std::invalid_argument);
}

} // namespace
} // namespace ns3::gradsync
