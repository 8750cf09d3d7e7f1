// SPDX-License-Identifier: GPL-2.0-only
#include "unit/study/scenario-test-support.h"

#include "ns3/json-document.h"
#include "ns3/json-value.h"
#include "ns3/nearest-name.h"
#include "ns3/scenario-error.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace ns3::gradsync
{

namespace
{

using testing::AllOf;
using testing::HasSubstr;

std::string
ParseError(const std::string& text)
{
    return ErrorOf([&text] { ParseJson(text, "x.json"); });
}

TEST(JsonDocument, KeepsTheOrderOfKeys)
{
    EXPECT_EQ(ParseJson(R"({"b": 1, "a": [2, {"z": 0, "y": 0}]})", "x.json").dump(),
              R"({"b":1,"a":[2,{"z":0,"y":0}]})");
}

TEST(JsonDocument, NamesDuplicateKeysWithTheirPath)
{
    EXPECT_THAT(ParseError(R"({"job": {"gradient": "1MB", "gradient": "2MB"}})"),
                AllOf(HasSubstr("x.json"), HasSubstr("duplicate key \"job.gradient\"")));
    EXPECT_THAT(ParseError(R"({"jobs": [{}, {"name": 1, "name": 2}]})"),
                HasSubstr("\"jobs.1.name\""));
}

TEST(JsonDocument, PlacesSyntaxErrors)
{
    // The stray letter is the 3rd of line 2, the 5th byte of the text.
    EXPECT_THAT(ParseError("{\n  x}"), AllOf(HasSubstr("line 2, column 3"), HasSubstr("byte 5")));
    EXPECT_THAT(ParseError(R"({"a": 1,})"), HasSubstr("invalid JSON"));
    EXPECT_THAT(ParseError("{} {}"), HasSubstr("invalid JSON"));
    EXPECT_THAT(ParseError("// no comments\n{}"), HasSubstr("line 1"));
}

TEST(JsonDocument, TellsTruncatedEmptyAndInvalidTextsApart)
{
    EXPECT_THAT(ParseError(R"({"job": {"gradient": )"), HasSubstr("truncated"));
    EXPECT_THAT(ParseError(R"({"job": "gradi)"), HasSubstr("truncated"));
    EXPECT_THAT(ParseError(""), HasSubstr("empty"));
    EXPECT_THAT(ParseError(" \n\t "), HasSubstr("empty"));
    EXPECT_THAT(ParseError("{\"title\": \"a\xff\"}"), HasSubstr("invalid UTF-8"));
}

TEST(JsonDocument, RefusesDeepNesting)
{
    EXPECT_THAT(ParseError(std::string(100'000, '[')), HasSubstr("nested deeper than 64"));
}

TEST(JsonDocument, RefusesNumbersOutOfRange)
{
    EXPECT_THAT(ParseError(R"({"seed": 1e999})"), HasSubstr("invalid JSON"));
}

TEST(JsonDocument, NamesWhatIsWrongWithAFile)
{
    const TemporaryFolder folder;
    const auto load = [](const std::filesystem::path& path) {
        return ErrorOf([&path] { LoadJson(path); });
    };
    std::ofstream(folder.Get() / "smoke.json") << "{}";
    EXPECT_THAT(load(folder.Get() / "smok.json"),
                AllOf(HasSubstr("no such file"), HasSubstr("did you mean \"smoke.json\"?")));
    EXPECT_THAT(load(folder.Get()), HasSubstr("is a directory"));
    std::ofstream(folder.Get() / "empty.json").flush();
    EXPECT_THAT(load(folder.Get() / "empty.json"), HasSubstr("empty"));
    EXPECT_THAT(load("/dev/null"), HasSubstr("not a regular file"));
}

TEST(JsonDocument, RefusesAHugeFileBeforeItIsRead)
{
    const TemporaryFolder folder;
    const auto file = folder.Get() / "huge.json";
    std::ofstream(file) << "{";
    // 200 MB without a block on disk.
    std::filesystem::resize_file(file, 200'000'000);
    EXPECT_THAT(ErrorOf([&file] { LoadJson(file); }),
                AllOf(HasSubstr("huge.json"), HasSubstr("200000000 bytes"), HasSubstr("16777216")));
}

TEST(NearestName, IsTheOneWithTheFewestChanges)
{
    const std::vector<std::string> names{"hostLink", "hostsPerLeaf", "fabricLink"};
    EXPECT_EQ(NearestName("hostPerLeaf", names), "hostsPerLeaf");
    EXPECT_EQ(NearestName("HOSTLINK", names), "hostLink");
    EXPECT_EQ(NearestName("banana", names), "");
    EXPECT_EQ(NearestName("", names), "");
    EXPECT_EQ(SuggestName("hostlnk", names), "; did you mean \"hostLink\"?");
}

TEST(JsonValue, SaysWhatWasFoundAndWhatIsAllowed)
{
    const Json document =
        ParseJson(R"({"a": {"count": -3, "flag": 1, "rate": 40, "kind": "rnig"}})", "x");
    const JsonValue a = *JsonValue(document, "x.json", "").Find("a");
    EXPECT_EQ(ErrorOf([&] { a.Find("count")->AsUnsigned(1, 9); }),
              "x.json: a.count: found -3, expected a whole number from 1 to 9");
    EXPECT_EQ(ErrorOf([&] { a.Find("flag")->AsBool(); }),
              "x.json: a.flag: found 1, expected true or false");
    EXPECT_THAT(ErrorOf([&] { a.Find("rate")->AsRate(); }),
                HasSubstr("found 40, expected a rate such as"));
    EXPECT_THAT(ErrorOf([&] {
                    a.Find("kind")->AsChoice({"ps", "ring"});
                }),
                AllOf(HasSubstr("did you mean \"ring\"?"), HasSubstr("allowed: ps, ring")));
    EXPECT_THAT(ErrorOf([&] {
                    a.CheckKeys({"count", "flags", "rate", "kind"});
                }),
                AllOf(HasSubstr("a: unknown key \"flag\""), HasSubstr("did you mean \"flags\"?")));
    EXPECT_THAT(ErrorOf([&] { a.Require("size", "1MB"); }), HasSubstr("a: \"size\" is missing"));
}

} // namespace

} // namespace ns3::gradsync
