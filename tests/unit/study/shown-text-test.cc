// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/shown-text.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <string>

namespace ns3::gradsync
{

namespace
{

TEST(ShownText, LeavesWhatIsPrintable)
{
    EXPECT_EQ(EscapeText("ring over 8 hosts"), "ring over 8 hosts");
    EXPECT_EQ(EscapeText("Zürich ↔ 東京 🙂"), "Zürich ↔ 東京 🙂");
}

TEST(ShownText, WritesOutWhatMovesTheCursorOrTurnsText)
{
    EXPECT_EQ(EscapeText("a\nb\r\tc"), "a\\nb\\r\\tc");
    EXPECT_EQ(EscapeText("\x1b[2J"), "\\x1b[2J");
    EXPECT_EQ(EscapeText(std::string("\0", 1)), "\\x00");
    EXPECT_EQ(EscapeText("\x7f"), "\\x7f");
    // U+009B is CSI to some terminals, U+202E turns what follows, U+E0041 is a tag.
    EXPECT_EQ(EscapeText("\xc2\x9b"), "\\x9b");
    EXPECT_EQ(EscapeText("\xe2\x80\xae"), "\\u202e");
    EXPECT_EQ(EscapeText("\xf3\xa0\x81\x81"), "\\U000e0041");
}

TEST(ShownText, WritesOutBytesThatAreNoUtf8)
{
    EXPECT_EQ(EscapeText("a\xff"), "a\\xff");
    EXPECT_EQ(EscapeText("\xe2\x80"), "\\xe2\\x80");
    EXPECT_EQ(EscapeText("\xc0\xaf"), "\\xc0\\xaf");          // longer than needed
    EXPECT_EQ(EscapeText("\xed\xa0\x80"), "\\xed\\xa0\\x80"); // half of a pair
}

TEST(ShownText, CutsAtTwoHundredCharacters)
{
    const std::string ascii(MAX_SHOWN, 'x');
    EXPECT_EQ(ShowText(ascii), ascii);
    EXPECT_EQ(ShowText(ascii + "y"), std::string(MAX_SHOWN - 1, 'x') + "…");
    std::string wide;
    for (size_t i = 0; i < MAX_SHOWN; ++i)
    {
        wide += "ü";
    }
    EXPECT_EQ(ShowText(wide), wide);
    EXPECT_EQ(ShowText(wide + "ü"), wide.substr(0, 2 * (MAX_SHOWN - 1)) + "…");
}

TEST(ShownText, IsOneLineWithoutControlCharactersWhateverTheBytes)
{
    std::mt19937 random(1);
    for (int round = 0; round < 1000; ++round)
    {
        std::string bytes;
        for (auto length = random() % 400; length > 0; --length)
        {
            bytes += static_cast<char>(random());
        }
        const auto shown = ShowText(bytes);
        EXPECT_TRUE(std::ranges::none_of(shown, [](char letter) {
            return static_cast<unsigned char>(letter) < ' ' || letter == 127;
        }));
        EXPECT_EQ(EscapeText(shown), shown);
        EXPECT_LE(shown.size(), 4 * MAX_SHOWN);
    }
}

} // namespace

} // namespace ns3::gradsync
