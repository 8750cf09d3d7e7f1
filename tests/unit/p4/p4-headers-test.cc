// SPDX-License-Identifier: GPL-2.0-only
// Header unions, fields of variable length, headers found at run time. What is expected is derived
// from behavioral-model's header_unions.h, stacks.cpp, parser.cpp and core/primitives.cpp.
#include "support/p4-small-program.h"

#include "ns3/p4-error.h"

#include <gmock/gmock.h>
#include <random>

namespace ns3::gradsync
{

namespace
{

using Program = P4SmallProgram;
using ProgramJson = Program::Json;
using Bytes = Program::Bytes;

/// A tag (8 bits), then for tag 1 the member `a` (16 bits), for 2 the member `b` (8 bits).
Program
MakeUnionProgram()
{
    Program program;
    program.AddType("tag_t", {{"kind", 8, false}});
    program.AddType("a_t", {{"value", 16, false}});
    program.AddType("b_t", {{"value", 8, false}});
    program.AddHeader("tag", "tag_t");
    for (const std::string name : {"u", "w"})
    {
        const auto ids = Program::List(
            {program.AddHeader(name + ".a", "a_t"), program.AddHeader(name + ".b", "b_t")});
        program.Get()["header_unions"].push_back({{"name", name},
                                                  {"id", name == "u" ? 0 : 1},
                                                  {"union_type", "u_t"},
                                                  {"header_ids", ids}});
    }
    program.AddState("start",
                     {Program::Extract("regular", "tag")},
                     {Program::Field("tag", "kind")},
                     {{"0x01", "a"}, {"0x02", "b"}, {nullptr, nullptr}});
    program.AddState("a", {Program::Extract("regular", "u.a")});
    program.AddState("b", {Program::Extract("regular", "u.b")});
    program.Emit({"tag", "u.a", "u.b", "w.a", "w.b"});
    return program;
}

TEST(P4Unions, OneMemberIsValid)
{
    auto program = MakeUnionProgram();
    // Making b valid makes a invalid; b is 0 as a new header is, unless it was there.
    program.Do("add_header", {Program::Named("header", "u.b")});
    const auto pipeline = program.Load();
    EXPECT_EQ(Program::Send(*pipeline, {1, 0xAA, 0xBB, 9}), (Bytes{1, 0, 9}));
    EXPECT_EQ(Program::Send(*pipeline, {2, 0xCC, 9}), (Bytes{2, 0xCC, 9}));
    EXPECT_EQ(Program::Send(*pipeline, {3, 9}), (Bytes{3, 0, 9}));
}

TEST(P4Unions, AreValidWhenAMemberIs)
{
    auto program = MakeUnionProgram();
    const auto valid =
        Program::Expression("valid_union", nullptr, Program::Named("header_union", "u"));
    program.Assign(Program::Field("tag", "kind"), Program::Expression("b2d", nullptr, valid));
    const auto pipeline = program.Load();
    EXPECT_EQ(Program::Send(*pipeline, {1, 7, 7}), (Bytes{1, 7, 7}));
    EXPECT_EQ(Program::Send(*pipeline, {2, 7}), (Bytes{1, 7}));
    EXPECT_EQ(Program::Send(*pipeline, {3}), (Bytes{0}));
}

TEST(P4Unions, AreCopiedWithTheirValidity)
{
    auto program = MakeUnionProgram();
    program.Do("add_header", {Program::Named("header", "w.b")});
    program.Do("assign_union",
               {Program::Named("header_union", "w"), Program::Named("header_union", "u")});
    const auto pipeline = program.Load();
    EXPECT_EQ(Program::Send(*pipeline, {1, 5, 6}), (Bytes{1, 5, 6, 5, 6}));
    EXPECT_EQ(Program::Send(*pipeline, {2, 5}), (Bytes{2, 5, 5}));
    EXPECT_EQ(Program::Send(*pipeline, {3}), (Bytes{3}));
}

TEST(P4Unions, AreEqualWhenTheSameMemberIs)
{
    // behavioral-model's HeaderUnion::cmp; p4c makes comparisons of validity and fields instead.
    auto program = MakeUnionProgram();
    program.Do("assign_union",
               {Program::Named("header_union", "w"), Program::Named("header_union", "u")});
    const auto compare = [&program](const std::string& op) {
        const auto equal = Program::Expression(op,
                                               Program::Named("header_union", "u"),
                                               Program::Named("header_union", "w"));
        program.Assign(Program::Field("tag", "kind"), Program::Expression("b2d", nullptr, equal));
    };
    compare("==");
    EXPECT_EQ(Program::Send(*program.Load(), {1, 5, 6}), (Bytes{1, 5, 6, 5, 6}));
    EXPECT_EQ(Program::Send(*program.Load(), {2, 5}), (Bytes{1, 5, 5}));
    // Two that are not valid are not equal.
    EXPECT_EQ(Program::Send(*program.Load(), {3}), (Bytes{0}));
    program.Assign(Program::Field("w.b", "value"), Program::Number(9));
    compare("!=");
    EXPECT_EQ(Program::Send(*program.Load(), {2, 9}), (Bytes{0, 9, 9}));
    EXPECT_EQ(Program::Send(*program.Load(), {2, 5}), (Bytes{1, 5, 9}));
    EXPECT_EQ(Program::Send(*program.Load(), {3}), (Bytes{1}));
    program.Do("add_header", {Program::Named("header", "w.b")});
    compare("==");
    EXPECT_EQ(Program::Send(*program.Load(), {1, 5, 6}), (Bytes{0, 5, 6, 0}));
}

/// Three unions in a stack; a packet is kinds and values until a kind of 0, which is left.
Program
MakeUnionStackProgram()
{
    Program program;
    program.AddType("a_t", {{"kind", 8, false}, {"value", 8, false}});
    program.AddType("b_t", {{"kind", 8, false}, {"value", 16, false}});
    program.Get()["header_union_types"].push_back(
        {{"name", "u_t"},
         {"id", 0},
         {"headers", Program::List({Program::List({"a", "a_t"}), Program::List({"b", "b_t"})})}});
    ProgramJson unions = ProgramJson::array();
    std::vector<std::string> order;
    for (size_t i = 0; i < 3; ++i)
    {
        const auto name = fmt::format("s[{}]", i);
        const auto ids = Program::List(
            {program.AddHeader(name + ".a", "a_t"), program.AddHeader(name + ".b", "b_t")});
        program.Get()["header_unions"].push_back(
            {{"name", name}, {"id", i}, {"union_type", "u_t"}, {"header_ids", ids}});
        unions.push_back(i);
        order.push_back(name + ".a");
        order.push_back(name + ".b");
    }
    program.Get()["header_union_stacks"].push_back(
        {{"name", "s"}, {"id", 0}, {"union_type", "u_t"}, {"header_union_ids", unions}});
    const std::vector<ProgramJson> key{{{"type", "lookahead"}, {"value", {0, 8}}}};
    const std::vector<std::pair<ProgramJson, ProgramJson>> next{{"0x01", "a"},
                                                                {"0x02", "b"},
                                                                {nullptr, nullptr}};
    program.AddState("start", {}, key, next);
    program.AddState("a", {Program::Extract("union_stack", Program::List({"s", "a"}))}, key, next);
    program.AddState("b", {Program::Extract("union_stack", Program::List({"s", "b"}))}, key, next);
    program.Emit(order);
    return program;
}

TEST(P4UnionStacks, AreFilledInOrder)
{
    auto program = MakeUnionStackProgram();
    const Bytes frame{2, 3, 4, 1, 5, 2, 6, 7, 0};
    EXPECT_EQ(Program::Send(*program.Load(), frame), frame);
    // The last field of a stack is that of the last union: 5 goes into the first.
    program.Assign(
        Program::Field("s[0].b", "value"),
        {{"type", "expression"},
         {"value",
          {{"type", "union_stack_field"}, {"value", Program::List({"s", "a", "value"})}}}});
    EXPECT_EQ(Program::Send(*program.Load(), {2, 3, 4, 1, 5, 0}), (Bytes{2, 0, 5, 1, 5, 0}));
    // A fourth is too many: the parser stops before it.
    EXPECT_EQ(Program::Send(*MakeUnionStackProgram().Load(), {1, 1, 1, 2, 1, 3, 1, 4, 0}),
              (Bytes{1, 1, 1, 2, 1, 3, 1, 4, 0}));
}

TEST(P4UnionStacks, ShiftsTurnThemAround)
{
    // BMv2 swaps unions and does not make those invalid that come in from the other end.
    auto program = MakeUnionStackProgram();
    program.Do("pop", {Program::Named("header_union_stack", "s"), Program::Number(1)});
    EXPECT_EQ(Program::Send(*program.Load(), {1, 1, 2, 0, 2, 1, 3, 0}),
              (Bytes{2, 0, 2, 1, 3, 1, 1, 0}));
    program = MakeUnionStackProgram();
    program.Do("push", {Program::Named("header_union_stack", "s"), Program::Number(1)});
    EXPECT_EQ(Program::Send(*program.Load(), {1, 1, 2, 0, 2, 1, 3, 0}),
              (Bytes{1, 3, 1, 1, 2, 0, 2, 0}));
    // In a stack that is not full an empty one comes in.
    EXPECT_EQ(Program::Send(*program.Load(), {1, 1, 2, 0, 2, 0}), (Bytes{1, 1, 2, 0, 2, 0}));
}

/// A length in bytes (8 bits), so many bytes, 4 at most, and 8 bits behind them; an error in `out`.
Program
MakeVariableProgram()
{
    Program program;
    program.AddType("v_t", {{"length", 8, false}, {"data", "*"}, {"tail", 8, false}});
    program.Get()["header_types"].back()["max_length"] = 6;
    program.AddType("first_t", {{"length", 8, false}});
    program.AddType("out_t", {{"error", 8, false}});
    program.AddHeader("v", "v_t");
    program.AddHeader("w", "v_t");
    program.AddHeader("first", "first_t");
    program.AddHeader("out", "out_t");
    const auto bits =
        Program::Expression("<<", Program::Field("first", "length"), Program::Number(3));
    ProgramJson extract = Program::Extract("regular", "v");
    extract["op"] = "extract_VL";
    extract["parameters"].push_back({{"type", "expression"}, {"value", bits}});
    program.AddState("start", {Program::Extract("regular", "first"), extract});
    program.Do("add_header", {Program::Named("header", "out")});
    program.Assign(Program::Field("out", "error"),
                   Program::Field("standard_metadata", "parser_error"));
    program.Emit({"out", "v", "w"});
    return program;
}

/// A packet for it: the length before and in the header, and then the data and the tail.
Bytes
MakeVariablePacket(size_t length, std::mt19937_64& random)
{
    Bytes packet{static_cast<uint8_t>(length), static_cast<uint8_t>(length)};
    for (size_t i = 0; i < length + 1; ++i)
    {
        packet.push_back(static_cast<uint8_t>(random()));
    }
    return packet;
}

/// What is expected of a packet behind its first byte, with the parser's error before it.
Bytes
Answer(uint8_t error, const Bytes& packet)
{
    Bytes answer{error};
    answer.insert(answer.end(), packet.begin() + 1, packet.end());
    return answer;
}

TEST(P4Varbit, HasTheLengthThatTheParserFinds)
{
    std::mt19937_64 random(20261123);
    const auto pipeline = MakeVariableProgram().Load();
    for (int round = 0; round < 50; ++round)
    {
        const size_t length = random() % 5;
        const auto packet = MakeVariablePacket(length, random);
        EXPECT_EQ(Program::Send(*pipeline, packet), Answer(0, packet));
        // 4 is HeaderTooShort: more than 6 bytes. 1 is PacketTooShort, which is looked at before.
        const auto longer = MakeVariablePacket(5 + random() % 20, random);
        EXPECT_EQ(Program::Send(*pipeline, longer), Answer(4, longer));
        auto cut = MakeVariablePacket(random() % 20, random);
        cut.pop_back();
        EXPECT_EQ(Program::Send(*pipeline, cut), Answer(1, cut));
    }
}

TEST(P4Varbit, IsCopiedWithItsLength)
{
    auto program = MakeVariableProgram();
    program.Do("assign_header", {Program::Named("header", "w"), Program::Named("header", "v")});
    const auto pipeline = program.Load();
    EXPECT_EQ(Program::Send(*pipeline, {2, 2, 7, 8, 9}), (Bytes{0, 2, 7, 8, 9, 2, 7, 8, 9}));
    EXPECT_EQ(Program::Send(*pipeline, {0, 0, 9}), (Bytes{0, 0, 9, 0, 9}));
    // A field alone, to a header that has other fields.
    program = MakeVariableProgram();
    program.Do("add_header", {Program::Named("header", "w")});
    program.Do("assign_VL", {Program::Field("w", "data"), Program::Field("v", "data")});
    EXPECT_EQ(Program::Send(*program.Load(), {3, 3, 4, 5, 6, 9}),
              (Bytes{0, 3, 4, 5, 6, 9, 0, 4, 5, 6, 0}));
}

TEST(P4Varbit, KeepsItsLengthWhenTheHeaderIsMadeAgain)
{
    // add_header sets fields to 0; the length is reset with the packet only.
    auto program = MakeVariableProgram();
    program.Do("remove_header", {Program::Named("header", "v")});
    program.Do("add_header", {Program::Named("header", "v")});
    EXPECT_EQ(Program::Send(*program.Load(), {2, 2, 7, 8, 9, 1}), (Bytes{0, 0, 0, 0, 0, 1}));
}

TEST(P4Varbit, CountsInChecksums)
{
    auto program = MakeVariableProgram();
    program.AddType("sum_t", {{"sum", 16, false}});
    program.AddHeader("c", "sum_t");
    program.Do("add_header", {Program::Named("header", "c")});
    program.Get()["calculations"].push_back(
        {{"name", "calc"},
         {"id", 0},
         {"algo", "csum16"},
         {"input", Program::List({Program::Field("v", "data")})}});
    program.Get()["checksums"].push_back({{"name", "c"},
                                          {"id", 0},
                                          {"target", Program::List({"c", "sum"})},
                                          {"type", "generic"},
                                          {"calculation", "calc"},
                                          {"update", true},
                                          {"verify", false},
                                          {"if_cond", nullptr}});
    program.Emit({"c"});
    const auto pipeline = program.Load();
    // 0x0102 + 0x0300 = 0x0402, its complement is 0xFBFD; nothing at all gives 0xFFFF.
    EXPECT_EQ(Program::Send(*pipeline, {3, 3, 1, 2, 3, 9}), (Bytes{0xFB, 0xFD}));
    EXPECT_EQ(Program::Send(*pipeline, {0, 0, 9}), (Bytes{0xFF, 0xFF}));
}

TEST(P4Varbit, NamesWhatItCannotDo)
{
    const auto load = [](const std::function<void(Program&)>& change) -> std::string {
        auto program = MakeVariableProgram();
        change(program);
        try
        {
            program.Load();
        }
        catch (const P4Error& error)
        {
            return error.what();
        }
        return "";
    };
    using testing::HasSubstr;
    EXPECT_THAT(load([](Program& p) { p.Get()["header_types"][1]["max_length"] = 2; }),
                HasSubstr("the field of variable length (varbit) has no room"));
    EXPECT_THAT(load([](Program& p) { p.Assign(Program::Field("v", "data"), Program::Number(1)); }),
                HasSubstr("a field of variable length (varbit) can only be copied as a whole"));
    EXPECT_THAT(load([](Program& p) {
                    p.Do("assign_VL", {Program::Field("v", "data"), Program::Field("v", "tail")});
                }),
                HasSubstr("two fields of variable length (varbit) of one type are expected"));
    EXPECT_THAT(load([](Program& p) {
                    auto& ops = p.Get()["parsers"][0]["parse_states"][0]["parser_ops"];
                    ops[1] = Program::Extract("regular", "v");
                }),
                HasSubstr("the header has a field of variable length (varbit)"));
}

/// An index (8 bits), then three headers of 8 bits in a stack.
Program
MakeStackProgram()
{
    Program program;
    program.AddType("i_t", {{"index", 8, false}});
    program.AddType("h_t", {{"first", 4, false}, {"value", 4, false}});
    program.AddHeader("i", "i_t");
    program.AddStack("h", "h_t", 3);
    const auto next = Program::Extract("stack", "h");
    program.AddState("start", {Program::Extract("regular", "i"), next, next, next});
    program.Emit({"i", "h[0]", "h[1]", "h[2]"});
    return program;
}

/// The second field of the header at the index that the packet has.
ProgramJson
MakeAccess()
{
    return Program::Expression("access_field", Program::At("h", Program::Field("i", "index")), 1);
}

TEST(P4StackIndex, ReadsAndWritesByAVariable)
{
    auto program = MakeStackProgram();
    const ProgramJson wrapped{{"type", "expression"}, {"value", MakeAccess()}};
    program.Assign(wrapped, Program::Expression("+", MakeAccess(), Program::Number(1)));
    const auto pipeline = program.Load();
    EXPECT_EQ(Program::Send(*pipeline, {0, 0x12, 0x34, 0x56}), (Bytes{0, 0x13, 0x34, 0x56}));
    EXPECT_EQ(Program::Send(*pipeline, {2, 0x12, 0x34, 0x5F}), (Bytes{2, 0x12, 0x34, 0x50}));
    EXPECT_EQ(pipeline->GetOutOfRange(), 0U);
    // Out of the stack: BMv2 ends; here nothing is written, and both accesses are counted.
    EXPECT_EQ(Program::Send(*pipeline, {3, 0x12, 0x34, 0x56}), (Bytes{3, 0x12, 0x34, 0x56}));
    EXPECT_EQ(Program::Send(*pipeline, {255, 0x12, 0x34, 0x56}), (Bytes{255, 0x12, 0x34, 0x56}));
    EXPECT_EQ(pipeline->GetOutOfRange(), 4U);
}

TEST(P4StackIndex, MakesHeadersValidAndInvalid)
{
    auto program = MakeStackProgram();
    program.Do("remove_header", {Program::At("h", Program::Field("i", "index"))});
    const auto valid = Program::Expression("valid", nullptr, Program::At("h", Program::Number(1)));
    program.Assign(Program::Field("i", "index"), Program::Expression("b2d", nullptr, valid));
    const auto pipeline = program.Load();
    EXPECT_EQ(Program::Send(*pipeline, {0, 1, 2, 3}), (Bytes{1, 2, 3}));
    EXPECT_EQ(Program::Send(*pipeline, {1, 1, 2, 3}), (Bytes{0, 1, 3}));
    program = MakeStackProgram();
    program.Do("remove_header", {Program::Named("header", "h[1]")});
    program.Do("add_header", {Program::At("h", Program::Field("i", "index"))});
    EXPECT_EQ(Program::Send(*program.Load(), {1, 1, 2, 3}), (Bytes{1, 1, 0, 3}));
    EXPECT_EQ(Program::Send(*program.Load(), {2, 1, 2, 3}), (Bytes{2, 1, 3}));
}

TEST(P4HeaderAssignment, TakesConditionsAndTheLastOfAStack)
{
    auto program = MakeStackProgram();
    ProgramJson choice = Program::Expression("?",
                                             Program::Named("header", "h[1]"),
                                             Program::At("h", Program::Number(2)));
    choice["value"]["cond"] =
        Program::Expression("==", Program::Field("i", "index"), Program::Number(7));
    program.Do("assign_header", {Program::Named("header", "h[0]"), choice});
    EXPECT_EQ(Program::Send(*program.Load(), {7, 1, 2, 3}), (Bytes{7, 2, 2, 3}));
    EXPECT_EQ(Program::Send(*program.Load(), {8, 1, 2, 3}), (Bytes{8, 3, 2, 3}));
    program = MakeStackProgram();
    const ProgramJson last{{"type", "stack_field"}, {"value", Program::List({"h", "last"})}};
    program.Do("assign_header", {Program::Named("header", "h[0]"), last});
    EXPECT_EQ(Program::Send(*program.Load(), {7, 1, 2, 3}), (Bytes{7, 3, 2, 3}));
    // Two headers alone: the second is the last. None at all: h[0] is made invalid.
    EXPECT_EQ(Program::Send(*program.Load(), {7, 1, 2}), (Bytes{7, 2, 2}));
    EXPECT_EQ(Program::Send(*program.Load(), {7}), (Bytes{7}));
}

TEST(P4Headers, AreEqualWhenValidityAndFieldsAre)
{
    auto program = MakeStackProgram();
    const auto equal = Program::Expression("==",
                                           Program::Named("header", "h[0]"),
                                           Program::Named("header", "h[1]"));
    program.Assign(Program::Field("i", "index"), Program::Expression("b2d", nullptr, equal));
    const auto pipeline = program.Load();
    EXPECT_EQ(Program::Send(*pipeline, {7, 1, 1, 3}), (Bytes{1, 1, 1, 3}));
    EXPECT_EQ(Program::Send(*pipeline, {7, 1, 2, 3}), (Bytes{0, 1, 2, 3}));
    // Two that are not valid are not equal.
    EXPECT_EQ(Program::Send(*pipeline, {7}), (Bytes{0}));
}

TEST(P4Headers, TakeTheSignThatBoolHas)
{
    Program program;
    program.AddType("b_t", {{"flag", 1, 0}, {"rest", 7, 0}});
    program.AddHeader("b", "b_t");
    program.AddState("start", {Program::Extract("regular", "b")});
    program.Emit({"b"});
    program.Assign(Program::Field("b", "flag"), Program::Number(1));
    EXPECT_EQ(Program::Send(*program.Load(), {0x05}), (Bytes{0x85}));
    program.Get()["header_types"][1]["fields"][0][2] = 2;
    EXPECT_THROW(program.Load(), P4Error);
}

} // namespace

} // namespace ns3::gradsync
