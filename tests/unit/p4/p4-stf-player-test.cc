// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-error.h"
#include "ns3/p4-program-loader.h"
#include "ns3/p4-stf-player.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

namespace ns3::gradsync
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::filesystem::path BEHAVIORAL = GRADSYNC_SOURCE_DIR "/p4-behavioral";

std::string
ReadWholeFile(const std::filesystem::path& file)
{
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

P4StfResult
PlayText(const std::string& program, const std::string& text)
{
    P4Pipeline pipeline(std::make_shared<const P4Program>(
        P4ProgramLoader::LoadFile(BEHAVIORAL / "compiled" / (program + ".json"))));
    return P4StfPlayer(pipeline, "v.stf").Play(ReadP4Stf(text, "v.stf"));
}

std::string
GetPlayRefusal(const std::string& text)
{
    try
    {
        PlayText("features", text);
    }
    catch (const P4Error& error)
    {
        return error.what();
    }
    return "";
}

// A packet of features.p4 that leaves by port 1 as it came: kind 0x40 does nothing.
const std::string NOTHING = "000140000000";

TEST(P4StfPlayer, PlaysAllVectors)
{
    const std::string mark = "# program: ";
    uint32_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(BEHAVIORAL / "vectors"))
    {
        if (entry.path().extension() != ".stf")
        {
            continue;
        }
        const auto text = ReadWholeFile(entry.path());
        const auto begin = text.find(mark) + mark.size();
        const auto result = PlayText(text.substr(begin, text.find('\n', begin) - begin), text);
        EXPECT_THAT(result.problems, IsEmpty()) << entry.path();
        EXPECT_EQ(result.passed, result.expected) << entry.path();
        EXPECT_EQ(result.elsewhere, 0U) << entry.path();
        ++count;
    }
    EXPECT_GE(count, 38U);
}

TEST(P4StfPlayer, ComparesPacketsByPortInTheirOrder)
{
    const std::string packets = "packet 0 " + NOTHING + "\npacket 0 000240000000\n";
    EXPECT_TRUE(
        PlayText("features", packets + "expect 1 0001 40\nexpect 1 0002*0000000$").HasPassed());
    EXPECT_TRUE(PlayText("features", packets + "expect 1\nexpect 1").HasPassed());
    const auto swapped = PlayText("features", packets + "expect 1 0002\nexpect 1 0001");
    EXPECT_THAT(
        swapped.problems,
        ElementsAre("v.stf:3: port 1, packet 0, which line 1 caused: byte 1 is 01, not 02",
                    "v.stf:4: port 1, packet 1, which line 2 caused: byte 1 is 02, not 01"));
    EXPECT_EQ(swapped.passed, 0U);
    EXPECT_EQ(swapped.expected, 2U);
}

TEST(P4StfPlayer, NoticesWhatIsMissingTooMuchOrTooLong)
{
    EXPECT_THAT(PlayText("features", "expect 1 00").problems,
                ElementsAre("v.stf:1: no packet left by port 1"));
    const auto tooMuch =
        PlayText("features", "packet 0 " + NOTHING + "\npacket 0 " + NOTHING + "\nexpect 1");
    EXPECT_EQ(tooMuch.unexpected, 1U);
    EXPECT_THAT(tooMuch.problems,
                ElementsAre("v.stf:2: a packet of 6 bytes left by port 1, which is not expected: " +
                            NOTHING));
    EXPECT_THAT(PlayText("features", "packet 0 " + NOTHING + "\nexpect 1 0001400000$").problems,
                ElementsAre(HasSubstr("6 bytes left, not 5")));
    EXPECT_THAT(PlayText("features", "packet 0 " + NOTHING + "\nexpect 1 00014000000000").problems,
                ElementsAre(HasSubstr("6 bytes left, not 7")));
    // By a port that the vector does not name, simple_switch has nothing to write to.
    const auto elsewhere = PlayText("features", "packet 0 " + NOTHING);
    EXPECT_TRUE(elsewhere.HasPassed());
    EXPECT_EQ(elsewhere.elsewhere, 1U);
}

/// A packet of kind 0x12, which byTernary looks at: e is 3 and shift 3. The key of byRange, which
/// follows, is 511, which is in none of its ranges.
const std::string TERNARY_PACKET =
    "packet 0 000112000000 " + std::string(80, '0') + "01FF 0000000000000003 03\n";

TEST(P4StfPlayer, TheLargestPriorityWins)
{
    const std::string low = "add FeatureIngress.byTernary 10 operands.e:0b*******1 "
                            "operands.shift:3 FeatureIngress.classify(result:0x11)\n";
    const std::string high = "add byTernary 20 e:0x*3 shift:0x3 classify(result : 0x22)\n";
    const auto expect = [](const std::string& result) {
        return TERNARY_PACKET + "expect 1 00011255 " + result;
    };
    EXPECT_THAT(PlayText("features", low + high + expect("0022")).problems, IsEmpty());
    EXPECT_THAT(PlayText("features", high + low + expect("0022")).problems, IsEmpty());
    EXPECT_THAT(PlayText("features", low + expect("0011")).problems, IsEmpty());
    EXPECT_THAT(PlayText("features", low + "remove all\n" + expect("FFFF")).problems, IsEmpty());
    EXPECT_THAT(
        PlayText("features", "setdefault byTernary classify(result:7)\n" + expect("0007")).problems,
        IsEmpty());
}

TEST(P4StfPlayer, PrefixesAreDigitsThatCount)
{
    // Kind 0x13: byPrefix, whose key is the 128 bits of a.
    const std::string packet = "packet 0 000113000000 A5" + std::string(98, '0') + "C8\n";
    for (const auto& key : {"0xA" + std::string(31, '*'),
                            "0b101" + std::string(125, '*'),
                            std::string("0xA0000000000000000000000000000000/4")})
    {
        const auto make = [&key, &packet](const std::string& result) {
            std::string text = "add byPrefix operands.a:";
            text.append(key).append(" classify(result:0xB1)\n").append(packet);
            return text.append("expect 1 00011300 ").append(result);
        };
        EXPECT_THAT(PlayText("features", make("00B1")).problems, IsEmpty()) << key;
        EXPECT_FALSE(PlayText("features", make("00B2")).HasPassed());
    }
}

TEST(P4StfPlayer, ChecksCountersAndAnswersCommands)
{
    // Number 1 of the events are malformed packets: this one ends before its headers.
    const std::string packet = "packet 0 00\n";
    EXPECT_TRUE(
        PlayText("slot-aggregation", packet + "check_counter events(1) packets == 1").HasPassed());
    EXPECT_TRUE(
        PlayText("slot-aggregation", packet + "check_counter events(1) bytes <= 1").HasPassed());
    EXPECT_TRUE(PlayText("slot-aggregation", packet + "check_counter events(2)").HasPassed());
    const auto wrong = PlayText("slot-aggregation", packet + "check_counter events(1) packets > 1");
    EXPECT_THAT(wrong.problems, ElementsAre("v.stf:2: events(1) has 1 packets, > 1 is expected"));
    EXPECT_EQ(wrong.expected, 1U);
    EXPECT_THAT(PlayText("slot-aggregation", packet + "wait\ncounter_read events 1 # all").answers,
                ElementsAre("events[1]= (1 bytes, 1 packets)"));
}

TEST(P4StfPlayer, NamesTheLineOfBadInput)
{
    EXPECT_EQ(GetPlayRefusal("\npacket 0 123"),
              "v.stf:2: a packet has two digits a byte, not 3 in all");
    EXPECT_THAT(GetPlayRefusal("packet 511 00"), HasSubstr("ports are 0 to 510"));
    EXPECT_THAT(GetPlayRefusal("packet x 00"), HasSubstr("\"x\" is no number"));
    EXPECT_THAT(GetPlayRefusal("packet 0 0G"), HasSubstr("\"G\" is no hexadecimal digit"));
    EXPECT_THAT(GetPlayRefusal("expect 0 00$00"), HasSubstr("\"$\" stands at the end"));
    EXPECT_THAT(GetPlayRefusal("pakcet 0 00"),
                HasSubstr("the command \"pakcet\" is not supported"));
    EXPECT_THAT(GetPlayRefusal("add byPrefix operands.a:1 classify(result:1"),
                HasSubstr("v.stf:1: \",\" is expected at the end of the line"));
    EXPECT_THAT(GetPlayRefusal("add byPrefix operands.x:1 classify(result:1)"),
                HasSubstr("there is no key of the table \"operands.x\""));
    EXPECT_THAT(GetPlayRefusal("add byPrefix operands.a:1 classify()"),
                HasSubstr("parameter \"result\" is missing"));
    EXPECT_THAT(GetPlayRefusal("add byTernary shift:3 classify(result:1)"),
                HasSubstr("a priority from 0 to 10000"));
    EXPECT_THAT(GetPlayRefusal("check_counter events(1) packets =! 3"), HasSubstr("v.stf:1: "));
    EXPECT_THAT(GetPlayRefusal("wait 3"), HasSubstr("the end of the line is expected"));
    EXPECT_THAT(GetPlayRefusal("add \"x"), HasSubstr("second \" is missing"));
}

} // namespace

} // namespace ns3::gradsync
