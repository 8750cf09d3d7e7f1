// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-reader.h"
#include "ns3/json-document.h"
#include "ns3/parameter-reader.h"
#include "ns3/scenario-error.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace ns3::gradsync
{
namespace
{

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

AggregationChoice
ReadPart(const std::string& text)
{
    const Json document = ParseJson(text, "x.json");
    return ReadAggregation(JsonValue(document, "x.json", "transport.aggregation"));
}

using Setting = std::pair<std::string, AttributeSettings>;

TEST(AggregationReader, ReadsTheAttributesOfDriversInTheirOwnObjects)
{
    const auto choice =
        ReadPart(R"({"values": "real", "atp": {"window": 50}, "slot": {"timeout": "1us"}})");
    EXPECT_THAT(choice.parts,
                ElementsAre(Setting("aggregation", {{"Values", "real"}}),
                            Setting("aggregation.slot", {{"Timeout", "1000000ps"}}),
                            Setting("aggregation.atp", {{"Window", "50"}})));
    EXPECT_TRUE(choice.renamed.empty());
}

TEST(AggregationReader, ReadsOldNamesAndTellsTheNewOnes)
{
    const auto choice = ReadPart(R"({"atpWindow": 50, "slots": 7})");
    EXPECT_THAT(choice.parts,
                ElementsAre(Setting("aggregation", {}),
                            Setting("aggregation.atp", {{"Window", "50"}}),
                            Setting("aggregation.slot", {{"Slots", "7"}})));
    EXPECT_THAT(
        choice.renamed,
        ElementsAre(
            RenamedKey{"transport.aggregation.atpWindow", "transport.aggregation.atp.window"},
            RenamedKey{"transport.aggregation.slots", "transport.aggregation.slot.slots"}));
}

TEST(AggregationReader, EveryOldNameIsThatOfAnAttribute)
{
    size_t count = 0;
    for (const auto& spec : GetAggregationParameters())
    {
        const auto& key = spec.name;
        if (spec.renamedTo.empty())
        {
            continue;
        }
        ++count;
        const auto text = key == "sharing"          ? R"("dynamic")"
                          : key.ends_with("imeout") ? R"("1ms")"
                          : key == "atpBusyShare"   ? "0.5"
                                                    : "3";
        const auto choice = ReadPart("{\"" + key + "\": " + text + "}");
        EXPECT_EQ(choice.renamed.size(), 1U) << key;
        EXPECT_EQ(choice.parts.size(), 2U) << key;
        const auto keys = GetKeys(GetAggregationParameters());
        EXPECT_EQ(std::ranges::count(keys, key), 0) << key;
    }
    // Five of ATP, two of NetReduce, five of the slot protocol.
    EXPECT_EQ(count, 12U);
}

TEST(AggregationReader, RefusesAnOldNameBesideTheNewOne)
{
    EXPECT_THAT([] { ReadPart(R"({"atpWindow": 50, "atp": {"window": 50}})"); },
                ThrowsMessage<ScenarioError>(AllOf(HasSubstr("transport.aggregation.atpWindow"),
                                                   HasSubstr("atp.window, which is set too"))));
}

TEST(AggregationReader, NamesThePathAndTheNearestKeyOfAWrongOne)
{
    EXPECT_THAT([] { ReadPart(R"({"atp": {"windw": 50}})"); },
                ThrowsMessage<ScenarioError>(
                    AllOf(HasSubstr("transport.aggregation.atp"), HasSubstr("window"))));
    // Old names are not offered.
    EXPECT_THAT([] { ReadPart(R"({"wrong": 50})"); },
                ThrowsMessage<ScenarioError>(
                    AllOf(HasSubstr("netreduce"), Not(HasSubstr("netReduceWindow")))));
    EXPECT_THAT([] { ReadPart(R"({"atpBusyShare": 2})"); },
                ThrowsMessage<ScenarioError>(HasSubstr("transport.aggregation.atpBusyShare")));
}

TEST(AggregationReader, ChecksWhatTheEngineP4WasCompiledForUnderAnyName)
{
    for (const auto* text : {R"({"engine": "p4", "slot": {"valuesPerPacket": 32}})",
                             R"({"engine": "p4", "valuesPerPacket": 32})"})
    {
        EXPECT_THAT([&] { ReadPart(text); },
                    ThrowsMessage<ScenarioError>(AllOf(
                        HasSubstr("valuesPerPacket"),
                        HasSubstr("64, for which the program of the engine p4 is compiled"))));
    }
    EXPECT_THAT([] { ReadPart(R"({"engine": "p4", "slot": {"format": "switchml"}})"); },
                ThrowsMessage<ScenarioError>(
                    AllOf(HasSubstr("transport.aggregation.slot.format"),
                          HasSubstr("\"slot\", which alone the program of the engine p4 knows"))));
    EXPECT_NO_THROW(ReadPart(R"({"engine": "p4", "slot": {"format": "slot"}})"));
}

} // namespace
} // namespace ns3::gradsync
