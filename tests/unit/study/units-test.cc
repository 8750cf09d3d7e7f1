// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/time-resolution.h"
#include "ns3/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

namespace ns3::gradsync
{

namespace
{

template <typename Parser>
std::string
ErrorOfParsing(Parser parse, const std::string& text)
{
    try
    {
        parse(text);
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "no error";
}

TEST(Units, RatesArePowersOfAThousand)
{
    EXPECT_EQ(ParseRate("40Gbps").GetBitRate(), 40'000'000'000ULL);
    EXPECT_EQ(ParseRate("1.5kbps").GetBitRate(), 1500ULL);
    EXPECT_EQ(ParseRate("155Mbps").GetBitRate(), 155'000'000ULL);
    EXPECT_EQ(ParseRate("1Tbps").GetBitRate(), 1'000'000'000'000ULL);
    EXPECT_EQ(ParseRate("7bps").GetBitRate(), 7ULL);
}

TEST(Units, TimesAreExactPicoseconds)
{
    UsePicoseconds();
    EXPECT_EQ(ParseTime("1us").GetPicoSeconds(), 1'000'000);
    EXPECT_EQ(ParseTime("0.25ns").GetPicoSeconds(), 250);
    EXPECT_EQ(ParseTime("2min").GetPicoSeconds(), 120'000'000'000'000);
    EXPECT_EQ(ParseTime("0s").GetPicoSeconds(), 0);
}

TEST(Units, MegabytesAreDecimalAndMebibytesBinary)
{
    EXPECT_EQ(ParseBytes("97MB"), 97'000'000ULL);
    // 97 * 2^20
    EXPECT_EQ(ParseBytes("97MiB"), 101'711'872ULL);
    EXPECT_EQ(ParseBytes("4096B"), 4096ULL);
    EXPECT_EQ(ParseBytes("0.5KiB"), 512ULL);
}

TEST(Units, MissingUnitIsNamed)
{
    EXPECT_THAT(ErrorOfParsing(ParseRate, "40"),
                testing::AllOf(testing::HasSubstr("found \"40\""),
                               testing::HasSubstr("no unit"),
                               testing::HasSubstr("40Gbps")));
    EXPECT_THAT(ErrorOfParsing(ParseBytes, "97"), testing::HasSubstr("no unit"));
    EXPECT_THAT(ErrorOfParsing(ParseTime, "1"), testing::HasSubstr("no unit"));
}

TEST(Units, WrongTextsAreRefused)
{
    EXPECT_THAT(ErrorOfParsing(ParseRate, "-40Gbps"), testing::HasSubstr("negative"));
    EXPECT_THAT(ErrorOfParsing(ParseRate, "0Gbps"), testing::HasSubstr("above 0"));
    EXPECT_THAT(ErrorOfParsing(ParseRate, "40GBps"), testing::HasSubstr("unknown unit \"GBps\""));
    EXPECT_THAT(ErrorOfParsing(ParseRate, "40 Gbps"), testing::HasSubstr("unknown unit"));
    EXPECT_THAT(ErrorOfParsing(ParseRate, ""), testing::HasSubstr("no number"));
    EXPECT_THAT(ErrorOfParsing(ParseRate, "Gbps"), testing::HasSubstr("no number"));
    EXPECT_THAT(ErrorOfParsing(ParseTime, "1.2.3us"), testing::HasSubstr("unknown unit"));
    EXPECT_THAT(ErrorOfParsing(ParseTime, "1e3us"), testing::HasSubstr("unknown unit"));
}

TEST(Units, OverflowIsRefused)
{
    UsePicoseconds();
    // 2^63 - 1 = 9,223,372,036,854,775,807 ps is the longest time: 9,223,372.036 s.
    EXPECT_EQ(ParseTime("9223372s").GetPicoSeconds(), 9'223'372'000'000'000'000);
    EXPECT_THAT(ErrorOfParsing(ParseTime, "9223373s"), testing::HasSubstr("too large"));
    EXPECT_THAT(ErrorOfParsing(ParseBytes, "999999999999999999TiB"),
                testing::HasSubstr("too large"));
    EXPECT_THAT(ErrorOfParsing(ParseBytes, "1234567890123456789B"),
                testing::HasSubstr("too many digits"));
}

TEST(Units, PartsOfTheSmallestUnitAreRefusedWithTheNearestValue)
{
    // 97.49 * 1,048,576 = 102,225,674.24
    EXPECT_THAT(ErrorOfParsing(ParseBytes, "97.49MiB"), testing::HasSubstr("102225674B"));
    EXPECT_THAT(ErrorOfParsing(ParseTime, "0.5ps"), testing::HasSubstr("the nearest is 1ps"));
}

TEST(Units, TimesAreWrittenInTheLargestWholeUnit)
{
    UsePicoseconds();
    EXPECT_EQ(FormatTime(NanoSeconds(67'108'864)), "67108864ns");
    EXPECT_EQ(FormatTime(Seconds(120)), "2min");
    EXPECT_EQ(FormatTime(Time(0)), "0ps");
}

TEST(Units, SecondsArePrintedExactly)
{
    EXPECT_EQ(FormatPicoseconds(0), "0.000000000000");
    EXPECT_EQ(FormatPicoseconds(38'797'123'456), "0.038797123456");
    EXPECT_EQ(FormatPicoseconds(-1), "-0.000000000001");
    EXPECT_EQ(FormatPicoseconds(9'223'372'036'854'775'807), "9223372.036854775807");
}

} // namespace

} // namespace ns3::gradsync
