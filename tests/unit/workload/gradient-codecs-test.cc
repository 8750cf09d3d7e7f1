// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/gradient-codecs.h"

#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <regex>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

TEST(MatchesPattern, StarsStandForAnyText)
{
    EXPECT_TRUE(MatchesPattern("conv1", "conv1"));
    EXPECT_TRUE(MatchesPattern("conv1", "conv*"));
    EXPECT_TRUE(MatchesPattern("conv", "conv*"));
    EXPECT_TRUE(MatchesPattern("layer 12 attention", "layer * attention"));
    EXPECT_TRUE(MatchesPattern("", "*"));
    EXPECT_TRUE(MatchesPattern("", ""));
    EXPECT_FALSE(MatchesPattern("conv1", "conv"));
    EXPECT_FALSE(MatchesPattern("conv", "conv1"));
    EXPECT_FALSE(MatchesPattern("layer 12 feed-forward", "layer * attention"));
    EXPECT_FALSE(MatchesPattern("", "a"));
}

TEST(MatchesPattern, DoesAsRegularExpressionsDo)
{
    // Short texts over two letters, so that many match, and stars that must give back what they
    // took.
    std::mt19937 random(5);
    const auto draw = [&random](const std::string& letters, uint32_t most) {
        std::string text;
        for (auto length = random() % (most + 1); length > 0; --length)
        {
            text += letters[random() % letters.size()];
        }
        return text;
    };
    for (int round = 0; round < 5000; ++round)
    {
        const auto name = draw("ab", 8);
        const auto pattern = draw("ab*", 6);
        std::string expression;
        for (const char letter : pattern)
        {
            expression += letter == '*' ? ".*" : std::string(1, letter);
        }
        EXPECT_EQ(MatchesPattern(name, pattern), std::regex_match(name, std::regex(expression)))
            << name << ' ' << pattern;
    }
}

TEST(ChooseCodec, TakesTheFirstRuleThatIsMet)
{
    const auto dgc =
        std::make_shared<const ProfiledCodec>(ProfiledCodec{{FindCodec("dgc")->defaults}});
    const auto fp16 =
        std::make_shared<const ProfiledCodec>(ProfiledCodec{{FindCodec("fp16")->defaults}});
    // GeoMX: what has more than 200,000 elements is sparse, the rest has half the bytes.
    const std::vector<GradientCodecRule> rules{{{"norm*"}, 0, nullptr},
                                               {{}, 200'000, dgc},
                                               {{}, 0, fp16}};
    EXPECT_EQ(ChooseCodec(rules, "conv", 800'001), dgc); // 200,001 elements, the last one cut
    EXPECT_EQ(ChooseCodec(rules, "conv", 800'000), fp16);
    EXPECT_EQ(ChooseCodec(rules, "norm1", 800'004), nullptr);
    EXPECT_EQ(ChooseCodec(rules, "conv", 0), nullptr); // nothing is more than 0 elements
    EXPECT_EQ(ChooseCodec({}, "conv", 4), nullptr);
    EXPECT_EQ(NameCompressed("gradients", dgc), "gradients (dgc)");
    EXPECT_EQ(NameCompressed("gradients", nullptr), "gradients");
}

} // namespace
} // namespace ns3::gradsync
