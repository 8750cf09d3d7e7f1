// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/json-document.h"
#include "ns3/parameter-reader.h"
#include "ns3/parameter-text.h"
#include "ns3/scenario-error.h"
#include "ns3/scenario-sections.h"
#include "ns3/time-resolution.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// One of each type.
std::vector<ParameterSpec>
MakeExampleSpecs()
{
    ParameterSpec loss = Optional({"loss", 0.5, "a share, or an object", {}, 0.0, 1.0});
    loss.forms = {
        MakeObjectSpec("loss",
                       "",
                       {{"law", std::string("even"), "", {"even"}}, {"low", int64_t{1}, "least"}}),
        MakeObjectSpec("loss",
                       "",
                       {{"law", std::string("list"), "", {"list"}},
                        {"values", std::vector<double>{}, "all"}})};
    auto links =
        MakeObjectSpec("links", "all", {Required({"a", std::string("host0"), "end", {}, 1})});
    links.isList = true;
    ParameterSpec whole{"counts", std::vector<double>{}, "whole", {}, 0, 9};
    whole.isWhole = true;
    ParameterSpec word = Optional({"limit", DataRate("1Gbps"), "a rate, or no limit"});
    word.forms = {{"limit", std::string("none"), "", {"none"}}};
    ParameterSpec gap{"gap", MicroSeconds(3), "above 0"};
    gap.minimum = 1;
    return {{"flag", false, "a flag"},
            {"count", int64_t{4}, "a number", {}, 1, 8},
            {"kind", std::string("b"), "a word", {"a", "b"}},
            gap,
            {"size", ByteCount{64}, "bytes", {}, 1},
            loss,
            links,
            whole,
            word};
}

ParameterSet
ReadExample(const std::string& text)
{
    UsePicoseconds();
    const Json document = ParseJson(text, "x.json");
    return ReadParameters(JsonValue(document, "x.json", "part"), MakeExampleSpecs());
}

auto
FailsWith(const std::string& a, const std::string& b)
{
    return ThrowsMessage<ScenarioError>(AllOf(HasSubstr(a), HasSubstr(b)));
}

TEST(ParameterReader, DefaultsStandForWhatIsNotGivenAndOptionalsAreAbsent)
{
    const auto parameters = ReadExample("{}");
    EXPECT_FALSE(parameters.Get<bool>("flag"));
    EXPECT_EQ(parameters.Get<int64_t>("count"), 4);
    EXPECT_EQ(parameters.Get<Time>("gap"), MicroSeconds(3));
    EXPECT_EQ(parameters.Get<ByteCount>("size").bytes, 64U);
    EXPECT_FALSE(parameters.Has("loss"));
    EXPECT_FALSE(parameters.Has("links"));
}

TEST(ParameterReader, ReadsEveryTypeWithItsUnit)
{
    const auto parameters = ReadExample(R"({"flag": true, "count": 8, "kind": "a", "gap": "2ns",
        "size": "1KiB", "links": [{"a": "x"}, {"a": "y"}], "counts": [0, 9], "limit": "2Gbps"})");
    EXPECT_TRUE(parameters.Get<bool>("flag"));
    EXPECT_EQ(parameters.Get<int64_t>("count"), 8);
    EXPECT_EQ(parameters.Get<std::string>("kind"), "a");
    EXPECT_EQ(parameters.Get<Time>("gap"), NanoSeconds(2));
    EXPECT_EQ(parameters.Get<ByteCount>("size").bytes, 1024U);
    EXPECT_EQ(parameters.Get<std::vector<double>>("counts"), (std::vector<double>{0, 9}));
    EXPECT_EQ(parameters.Get<DataRate>("limit"), DataRate("2Gbps"));
    const auto& links = parameters.Get<std::vector<ParameterSet>>("links");
    ASSERT_EQ(links.size(), 2U);
    EXPECT_EQ(links[1].Get<std::string>("a"), "y");
}

TEST(ParameterReader, TellsFormsApartByTypeByWordAndByTheirFirstMember)
{
    EXPECT_EQ(ReadExample(R"({"loss": 0.25})").Get<double>("loss"), 0.25);
    EXPECT_EQ(
        ReadExample(R"({"loss": {"law": "even", "low": 3}})").GetObject("loss").Get<int64_t>("low"),
        3);
    EXPECT_EQ(ReadExample(R"({"loss": {"law": "list", "values": [1.5]}})")
                  .GetObject("loss")
                  .Get<std::vector<double>>("values"),
              std::vector<double>{1.5});
    EXPECT_EQ(ReadExample(R"({"limit": "none"})").Get<std::string>("limit"), "none");
}

TEST(ParameterReader, NamesThePlaceWhatWasFoundAndWhatIsAllowed)
{
    EXPECT_THAT([] { ReadExample(R"({"cuont": 1})"); },
                FailsWith("x.json: part: unknown key \"cuont\"", "did you mean \"count\"?"));
    EXPECT_THAT([] { ReadExample(R"({"count": 9})"); },
                FailsWith("part.count: found 9", "a whole number from 1 to 8"));
    EXPECT_THAT([] { ReadExample(R"({"gap": "0s"})"); }, FailsWith("part.gap", "a time above 0"));
    EXPECT_THAT([] { ReadExample(R"({"size": "0B"})"); }, FailsWith("part.size", "of at least 1B"));
    EXPECT_THAT([] { ReadExample(R"({"counts": [1.5]})"); },
                FailsWith("part.counts.0", "a whole number"));
    EXPECT_THAT([] { ReadExample(R"({"links": [{}]})"); },
                FailsWith("part.links.0: \"a\" is missing", "\"a\": \"host0\""));
    EXPECT_THAT([] { ReadExample(R"({"loss": "much"})"); },
                FailsWith("part.loss: found \"much\"", "a number"));
    EXPECT_THAT([] { ReadExample(R"({"loss": {"law": "lst"}})"); },
                FailsWith("part.loss.law", "did you mean \"list\"?"));
    EXPECT_THAT([] { ReadExample(R"({"limit": "fast"})"); },
                FailsWith("part.limit", "found \"fast\""));
}

TEST(ParameterReader, PlacesWhatDoesNotGoTogetherWhereItStands)
{
    const Json document = ParseJson(R"({"nodes": [{"name": "a"}, {"name": "a"}]})", "x.json");
    const JsonValue value(document, "x.json", "topology");
    EXPECT_THAT([&] { FailAt(value, ParameterError("nodes.1.name", "the name is taken")); },
                ThrowsMessage<ScenarioError>("x.json: topology.nodes.1.name: the name is taken"));
    EXPECT_THAT([&] { FailAt(value, ParameterError::Expected("nodes.0.name", "a longer one")); },
                ThrowsMessage<ScenarioError>(
                    "x.json: topology.nodes.0.name: found \"a\", expected a longer one"));
    EXPECT_THAT([&] { FailAt(value, ParameterError::Missing("links", "[...]")); },
                ThrowsMessage<ScenarioError>("x.json: topology: \"links\" is missing, expected for "
                                             "example \"links\": [...]"));
}

/// Every default and example of every kind is one that the reader takes, as text and back.
TEST(ParameterReader, TakesTheDefaultsAndExamplesThatAreDeclared)
{
    UsePicoseconds();
    size_t count = 0;
    for (const auto& section : GetKindSections())
    {
        for (const auto& kind : section.getKinds())
        {
            for (const auto& spec : kind.parameters)
            {
                const bool isPlain = spec.members.empty() && spec.renamedTo.empty() &&
                                     !spec.isFile &&
                                     !std::holds_alternative<SharedShape>(spec.defaultValue);
                if (!isPlain)
                {
                    continue;
                }
                auto alone = spec;
                alone.presence = Presence::Optional;
                const Json document = ParseJson(
                    fmt::format("{{\"{}\": {}}}", spec.name, ShowParameter(spec.defaultValue)),
                    "x.json");
                const auto read = ReadParameters(JsonValue(document, "x.json", ""), {alone});
                EXPECT_EQ(read.GetAll().at(spec.name), spec.defaultValue)
                    << section.name << " " << kind.name << " " << spec.name;
                ++count;
            }
        }
    }
    EXPECT_GT(count, 200U); // some eighty kinds have three each and more
}

TEST(ParameterReader, RefusesTheKeysOfAnotherKind)
{
    size_t count = 0;
    for (const auto& section : GetKindSections())
    {
        for (const auto& kind : section.getKinds())
        {
            for (const auto& other : section.getKinds())
            {
                for (const auto& spec : other.parameters)
                {
                    if (std::ranges::count(kind.parameters, spec.name, &ParameterSpec::name) > 0 ||
                        !spec.renamedTo.empty())
                    {
                        continue;
                    }
                    const Json document{{spec.name, true}};
                    EXPECT_THROW(ReadParameters(JsonValue(document, "x.json", ""), kind.parameters),
                                 ScenarioError)
                        << section.name << " " << kind.name << " " << spec.name;
                    ++count;
                }
            }
        }
    }
    EXPECT_GT(count, 1000U);
}

} // namespace
} // namespace ns3::gradsync
