// SPDX-License-Identifier: GPL-2.0-only
// Action selectors, parser value sets, meters, digests, log_msg, random. What is expected is
// derived from behavioral-model's action_profile.cpp, parser.cpp, meters.cpp, learning.cpp and
// primitives.
#include "support/p4-small-program.h"

#include "ns3/p4-error.h"
#include "ns3/p4-log.h"

#include <gmock/gmock.h>
#include <set>

namespace ns3::gradsync
{

namespace
{

using Program = P4SmallProgram;
using ProgramJson = Program::Json;
using Bytes = Program::Bytes;

/// Three bytes: a key, a flow and what the program writes.
Program
MakeProgram()
{
    Program program;
    program.AddType("h_t", {{"key", 8, false}, {"flow", 8, false}, {"out", 8, false}});
    program.AddHeader("h", "h_t");
    program.AddState("start", {Program::Extract("regular", "h")});
    program.Emit({"h"});
    return program;
}

/// An action that writes its parameter to `out`; returns its id.
size_t
AddSetOut(Program& program)
{
    const ProgramJson parameter{{"name", "value"}, {"bitwidth", 8}};
    const size_t id = program.AddAction("setOut", {parameter});
    const ProgramJson value{{"type", "runtime_data"}, {"value", 0}};
    program.Assign(Program::Field("h", "out"), value, id);
    return id;
}

/// A table "t" on the key whose entries lead to members or, with a selector, groups of "profile".
Program
MakeSelectorProgram(bool hasSelector)
{
    auto program = MakeProgram();
    const size_t action = AddSetOut(program);
    ProgramJson profile{{"name", "profile"}, {"id", 0}, {"max_size", 16}};
    if (hasSelector)
    {
        profile["selector"] = {{"algo", "identity"},
                               {"input", Program::List({Program::Field("h", "flow")})}};
    }
    program.Get()["pipelines"][0]["action_profiles"].push_back(profile);
    program.AddTable("t",
                     hasSelector ? "indirect_ws" : "indirect",
                     Program::List({"h", "key"}),
                     {action},
                     {{"action_profile", "profile"}});
    return program;
}

/// An entry for a value of the key.
P4TableEntry
MakeEntry(uint64_t key, P4EntryTarget target, uint32_t handle)
{
    P4TableEntry entry;
    entry.keys.push_back({{key}, {}, 0});
    entry.target = target;
    entry.member = handle;
    return entry;
}

TEST(P4Selector, HashChoosesTheMemberOfAGroup)
{
    const auto pipeline = MakeSelectorProgram(true).Load();
    auto& members = pipeline->FindProfile("profile");
    const uint32_t action = members.GetProfile().actions.at(0);
    for (const uint64_t value : {10U, 20U, 30U})
    {
        members.AddMember({action, {value}});
    }
    const uint32_t group = members.AddGroup();
    members.AddToGroup(2, group);
    members.AddToGroup(0, group);
    pipeline->FindTable("t").Add(MakeEntry(5, P4EntryTarget::GROUP, group));
    pipeline->FindTable("t").Add(MakeEntry(6, P4EntryTarget::MEMBER, 1));
    // The identity of one byte is that byte: even ones take the first member, 0, odd ones 2.
    for (uint8_t flow = 0; flow < 20; ++flow)
    {
        const auto value = static_cast<uint8_t>(flow % 2 == 0 ? 10 : 30);
        EXPECT_EQ(Program::Send(*pipeline, {5, flow, 0}), (Bytes{5, flow, value}));
    }
    EXPECT_EQ(Program::Send(*pipeline, {6, 9, 0}), (Bytes{6, 9, 20}));
    // No entry, no default: nothing is done.
    EXPECT_EQ(Program::Send(*pipeline, {7, 9, 1}), (Bytes{7, 9, 1}));
    members.ModifyMember(1, {action, {21}});
    EXPECT_EQ(Program::Send(*pipeline, {6, 9, 0}), (Bytes{6, 9, 21}));
    EXPECT_THROW(pipeline->DeleteMember("profile", 1), P4Error);
    EXPECT_THROW(pipeline->DeleteMemberGroup("profile", group), P4Error);
    // A group may lose its members while an entry leads to it.
    members.RemoveFromGroup(0, group);
    members.RemoveFromGroup(2, group);
    EXPECT_EQ(Program::Send(*pipeline, {5, 0, 1}), (Bytes{5, 0, 1}));
    EXPECT_NO_THROW(pipeline->DeleteMember("profile", 2));
}

TEST(P4ActionProfile, DefaultMayBeAMember)
{
    const auto pipeline = MakeSelectorProgram(false).Load();
    auto& members = pipeline->FindProfile("profile");
    members.AddMember({members.GetProfile().actions.at(0), {40}});
    pipeline->FindTable("t").SetDefault(MakeEntry(0, P4EntryTarget::MEMBER, 0));
    EXPECT_EQ(Program::Send(*pipeline, {1, 2, 3}), (Bytes{1, 2, 40}));
    EXPECT_THROW(pipeline->DeleteMember("profile", 0), P4Error);
    EXPECT_THROW(members.AddGroup(), P4Error);
    EXPECT_THROW(pipeline->FindProfile("other"), P4Error);
}

/// A key of 4 and 12 bits, then one header more if the key is in the set, which shows.
Program
MakeValueSetProgram()
{
    Program program;
    program.AddType("k_t", {{"a", 4, false}, {"b", 12, false}});
    program.AddType("m_t", {{"mark", 8, false}});
    program.AddHeader("k", "k_t");
    program.AddHeader("m", "m_t");
    program.Get()["parse_vsets"].push_back(
        {{"name", "set"}, {"id", 0}, {"compressed_bitwidth", 16}, {"max_size", 4}});
    program.AddState("start",
                     {Program::Extract("regular", "k")},
                     {Program::Field("k", "a"), Program::Field("k", "b")},
                     {{"set", "marked"}, {nullptr, nullptr}});
    program.Get()["parsers"][0]["parse_states"][0]["transitions"][0]["type"] = "parse_vset";
    program.AddState("marked", {Program::Extract("regular", "m")});
    program.Assign(Program::Field("m", "mark"), Program::Number(0xEE));
    program.Emit({"k", "m"});
    return program;
}

TEST(P4ValueSet, ParserGoesWhereTheKeyIsInTheSet)
{
    const auto pipeline = MakeValueSetProgram().Load();
    const Bytes frame{0x12, 0x34, 0};
    EXPECT_EQ(Program::Send(*pipeline, frame), frame);
    // Values have no padding: 4 and 12 bits are 16.
    pipeline->AddToValueSet("set", {0x1234});
    pipeline->AddToValueSet("set", {0x1235});
    EXPECT_EQ(Program::Send(*pipeline, frame), (Bytes{0x12, 0x34, 0xEE}));
    EXPECT_EQ(Program::Send(*pipeline, {0x02, 0x34, 0}), (Bytes{0x02, 0x34, 0}));
    pipeline->RemoveFromValueSet("set", {0x1234});
    EXPECT_EQ(Program::Send(*pipeline, frame), frame);
    EXPECT_EQ(pipeline->GetValueSet("set"), (std::vector<std::vector<uint64_t>>{{0x1235}}));
    pipeline->ClearValueSet("set");
    EXPECT_TRUE(pipeline->GetValueSet("set").empty());
    EXPECT_THROW(pipeline->ClearValueSet("other"), P4Error);
    auto wrong = MakeValueSetProgram();
    wrong.Get()["parse_vsets"][0]["compressed_bitwidth"] = 15;
    EXPECT_THROW(wrong.Load(), P4Error);
}

TEST(P4Meters, AProgramExecutesThemByIndex)
{
    auto program = MakeProgram();
    program.Get()["meter_arrays"].push_back({{"name", "meter"},
                                             {"id", 0},
                                             {"is_direct", false},
                                             {"rate_count", 2},
                                             {"type", "packets"},
                                             {"size", 4}});
    program.Do("execute_meter",
               {Program::Named("meter_array", "meter"),
                Program::Field("h", "key"),
                Program::Field("h", "out")});
    const auto pipeline = program.Load();
    pipeline->FindMeter("meter").SetRates(3, {{0.001, 1}, {0.001, 2}});
    // Bursts of 1 and 2: green, yellow, red; 1,000 us bring one token of each.
    EXPECT_EQ(Program::Send(*pipeline, {3, 0, 9}), (Bytes{3, 0, 0}));
    EXPECT_EQ(Program::Send(*pipeline, {3, 0, 9}), (Bytes{3, 0, 1}));
    EXPECT_EQ(Program::Send(*pipeline, {3, 0, 9}), (Bytes{3, 0, 2}));
    EXPECT_EQ(Program::Send(*pipeline, {3, 0, 9}, 1000), (Bytes{3, 0, 0}));
    // A meter without rates is green; one that is not there leaves the field as it is.
    EXPECT_EQ(Program::Send(*pipeline, {2, 0, 9}, 1000), (Bytes{2, 0, 0}));
    EXPECT_EQ(Program::Send(*pipeline, {4, 0, 9}, 1000), (Bytes{4, 0, 9}));
    EXPECT_EQ(pipeline->GetOutOfRange(), 1U);
    EXPECT_THROW(pipeline->FindMeter("other"), P4Error);
}

TEST(P4Meters, OfATableBelongToItsEntries)
{
    auto program = MakeProgram();
    const size_t action = program.AddAction("nothing", {});
    program.Get()["meter_arrays"].push_back({{"name", "meter"},
                                             {"id", 0},
                                             {"is_direct", true},
                                             {"rate_count", 2},
                                             {"type", "bytes"},
                                             {"size", 1024},
                                             {"binding", "t"},
                                             {"result_target", Program::List({"h", "out"})}});
    program.AddTable("t",
                     "simple",
                     Program::List({"h", "key"}),
                     {action},
                     {{"direct_meters", "meter"}});
    const auto pipeline = program.Load();
    for (const uint64_t key : {5U, 6U})
    {
        auto entry = MakeEntry(key, P4EntryTarget::ACTION, 0);
        entry.action = static_cast<uint32_t>(action);
        pipeline->FindTable("t").Add(std::move(entry));
    }
    // Of the second entry: 3 bytes are what the first bucket has, 8 the second.
    pipeline->FindMeter("meter").SetRates(1, {{0, 3}, {0, 8}});
    EXPECT_EQ(Program::Send(*pipeline, {6, 0, 9}), (Bytes{6, 0, 0}));
    EXPECT_EQ(Program::Send(*pipeline, {6, 0, 9}), (Bytes{6, 0, 1}));
    EXPECT_EQ(Program::Send(*pipeline, {6, 0, 9}), (Bytes{6, 0, 2}));
    EXPECT_EQ(Program::Send(*pipeline, {5, 0, 9}), (Bytes{5, 0, 0}));
    // A miss executes no meter.
    EXPECT_EQ(Program::Send(*pipeline, {7, 0, 9}), (Bytes{7, 0, 9}));
}

TEST(P4Queues, EgressCountsTheFrameThatCameIn)
{
    // The parser takes 3 of 8 bytes. BMv2 counts the length of the packet at ingress wherever it is
    // counted, so the queue between ingress and egress changes nothing.
    auto program = MakeProgram();
    program.Get()["counter_arrays"].push_back(
        {{"name", "bytes"}, {"id", 0}, {"is_direct", false}, {"size", 1}});
    program.Get()["meter_arrays"].push_back({{"name", "meter"},
                                             {"id", 0},
                                             {"is_direct", false},
                                             {"rate_count", 2},
                                             {"type", "bytes"},
                                             {"size", 1}});
    const size_t measure = program.AddAction("measure", {});
    program.Do("count", {Program::Named("counter_array", "bytes"), Program::Number(0)}, measure);
    program.Do(
        "execute_meter",
        {Program::Named("meter_array", "meter"), Program::Number(0), Program::Field("h", "out")},
        measure);
    auto& egress = program.Get()["pipelines"][1];
    egress["init_table"] = "measure";
    egress["action_calls"].push_back(
        {{"name", "measure"}, {"id", 1}, {"action_id", measure}, {"next_node", nullptr}});
    const auto pipeline = program.Load();
    // Of 8 bytes both buckets have enough, of the next 8 none: green, then red.
    pipeline->FindMeter("meter").SetRates(0, {{0, 8}, {0, 8}});
    pipeline->SetQueues(true);
    for (const uint8_t colour : {0, 2})
    {
        const auto waiting = pipeline->Process(Bytes{1, 2, 3, 4, 5, 6, 7, 8}, 0)[0].waiting;
        ASSERT_NE(waiting, nullptr);
        bool hasLeft = false;
        const auto left = pipeline->Leave(*waiting, {}, 0, hasLeft);
        ASSERT_TRUE(hasLeft);
        EXPECT_EQ(left[0].bytes, (Bytes{1, 2, colour, 4, 5, 6, 7, 8}));
    }
    EXPECT_EQ(pipeline->GetCounter("bytes", 0).packets, 2U);
    EXPECT_EQ(pipeline->GetCounter("bytes", 0).bytes, 16U);
}

TEST(P4Digests, AreKeptOnceUntilTheyAreTaken)
{
    auto program = MakeProgram();
    program.Get()["learn_lists"].push_back(
        {{"name", "seen_t"},
         {"id", 1},
         {"elements", Program::List({Program::Field("h", "key"), Program::Field("h", "out")})}});
    program.Do("generate_digest", {Program::Number(0), Program::Number(1)});
    // What the fields hold at the end of ingress counts, not what they held at the call.
    program.Assign(Program::Field("h", "out"), Program::Field("h", "flow"));
    const auto pipeline = program.Load();
    Program::Send(*pipeline, {1, 2, 0});
    Program::Send(*pipeline, {1, 2, 0});
    Program::Send(*pipeline, {1, 0xA3, 0});
    ASSERT_EQ(pipeline->GetDigests().size(), 2U);
    EXPECT_EQ(pipeline->DescribeDigest(pipeline->GetDigests()[0]), "seen_t: h.key=0x1 h.out=0x2");
    EXPECT_EQ(pipeline->DescribeDigest(pipeline->GetDigests()[1]), "seen_t: h.key=0x1 h.out=0xa3");
    EXPECT_EQ(pipeline->TakeDigests().size(), 2U);
    EXPECT_TRUE(pipeline->GetDigests().empty());
    Program::Send(*pipeline, {1, 2, 0});
    EXPECT_EQ(pipeline->GetDigests().size(), 1U);
    // A new switch has sent none: neither is one left, nor is the same one a repetition.
    pipeline->ResetState();
    EXPECT_TRUE(pipeline->GetDigests().empty());
    Program::Send(*pipeline, {1, 2, 0});
    EXPECT_EQ(pipeline->GetDigests().size(), 1U);
}

/// log_msg of a text with values.
void
AddLog(Program& program, const std::string& text, const std::vector<ProgramJson>& values)
{
    program.Do(
        "log_msg",
        {Program::Named("string", text), {{"type", "parameters_vector"}, {"value", values}}});
}

TEST(P4Log, ShowsNumbersInTheirPlaces)
{
    auto program = MakeProgram();
    AddLog(program,
           "key {} of \\{flow {x}\\}",
           {Program::Field("h", "key"),
            Program::Expression("-", Program::Field("h", "flow"), Program::Number(300))});
    const auto pipeline = program.Load();
    Program::Send(*pipeline, {255, 7, 0});
    EXPECT_EQ(pipeline->GetLog(), (std::vector<std::string>{"key 255 of {flow -293}"}));
    EXPECT_EQ(pipeline->CountLogged(), 1U);
    AddLog(program, "two {} {}", {Program::Field("h", "key")});
    EXPECT_THROW(program.Load(), P4Error);
}

TEST(P4Log, WritesWideNumbers)
{
    // 2^64 and the same negative.
    const std::vector<uint64_t> store{0, 1, 0, ~uint64_t{0}};
    const P4LogMessage message{{"", " and ", ""}, {{0, 2, false}, {2, 2, true}}};
    EXPECT_EQ(FormatLogMessage(message, store.data()),
              "18446744073709551616 and -18446744073709551616");
}

TEST(P4Log, IsPossibleInTheDeparser)
{
    auto program = MakeProgram();
    program.Get()["deparsers"][0]["primitives"].push_back(
        {{"op", "log_msg"},
         {"parameters",
          Program::List({Program::Named("string", "out"),
                         {{"type", "parameters_vector"}, {"value", ProgramJson::object()}}})}});
    const auto pipeline = program.Load();
    EXPECT_EQ(Program::Send(*pipeline, {1, 2, 3}), (Bytes{1, 2, 3}));
    EXPECT_EQ(pipeline->GetLog(), (std::vector<std::string>{"out"}));
}

TEST(P4Random, DrawsAllNumbersOfTheRangeByTheSeed)
{
    auto program = MakeProgram();
    program.Do(
        "modify_field_rng_uniform",
        {Program::Field("h", "out"), Program::Field("h", "key"), Program::Field("h", "flow")});
    const auto draw = [&program](uint64_t seed) {
        const auto pipeline = program.Load();
        pipeline->SeedRandom(seed);
        Bytes numbers;
        for (int i = 0; i < 400; ++i)
        {
            numbers.push_back(Program::Send(*pipeline, {3, 12, 0})[2]);
        }
        return numbers;
    };
    const auto numbers = draw(1);
    EXPECT_EQ(numbers, draw(1));
    EXPECT_NE(numbers, draw(2));
    // Of 400 numbers each of the ten from 3 to 12 is expected 40 times; six standard deviations,
    // sqrt(400 * 0.1 * 0.9) = 6, are 36.
    std::map<uint8_t, int> counts;
    for (const uint8_t number : numbers)
    {
        ++counts[number];
    }
    EXPECT_EQ(counts.size(), 10U);
    for (const auto& [number, count] : counts)
    {
        EXPECT_GE(number, 3);
        EXPECT_LE(number, 12);
        EXPECT_NEAR(count, 40, 36);
    }
    // A range that is none leaves the field as it is.
    EXPECT_EQ(Program::Send(*program.Load(), {4, 3, 9}), (Bytes{4, 3, 9}));
}

} // namespace

} // namespace ns3::gradsync
