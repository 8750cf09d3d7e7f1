// SPDX-License-Identifier: GPL-2.0-only
// What signed fields become by what is written to them. BMv2's Field::export_bytes (fields.h) takes
// a number modulo 2^n only when it is less than -2^(n-1) or more than 2^n - 1, and leaves those in
// between; simple_switch 1.15.5 answers so.
#include "support/p4-small-program.h"

#include <algorithm>
#include <boost/endian/conversion.hpp>
#include <gtest/gtest.h>
#include <random>

namespace ns3::gradsync
{

namespace
{

using Program = P4SmallProgram;
using ProgramJson = Program::Json;
using Bytes = Program::Bytes;
__extension__ using Int128 = __int128;

/// 1 where a condition holds, as a number.
ProgramJson
ToNumber(const ProgramJson& condition)
{
    return Program::Expression("b2d", nullptr, condition);
}

/// A byte with a sign, and what the program finds out about it.
Program
MakeSignedProgram()
{
    Program program;
    program.AddType("h_t", {{"given", 8, true}, {"copy", 8, true}, {"out", 8, false}});
    program.AddHeader("h", "h_t");
    program.AddType("m_t", {{"value", 8, true}, {"_padding", 8, false}});
    program.AddHeader("m", "m_t", true);
    program.AddState("start", {Program::Extract("regular", "h")});
    program.Emit({"h"});
    program.Get()["register_arrays"].push_back(
        {{"name", "r"}, {"id", 0}, {"size", 1}, {"bitwidth", 8}});
    return program;
}

/// Writes to `out`: 1 if the field is negative, 2 if it equals `given`.
void
Describe(Program& program, const ProgramJson& field)
{
    const auto isNegative = ToNumber(Program::Expression("<", field, Program::Number(0)));
    const auto isGiven = ToNumber(Program::Expression("==", field, Program::Field("h", "given")));
    program.Assign(Program::Field("h", "out"),
                   Program::Expression("+",
                                       isNegative,
                                       Program::Expression("*", isGiven, Program::Number(2))));
}

TEST(P4Signed, WhatARegisterGivesHasNoSign)
{
    auto program = MakeSignedProgram();
    program.Do(
        "register_write",
        {Program::Named("register_array", "r"), Program::Number(0), Program::Field("h", "given")});
    program.Do(
        "register_read",
        {Program::Field("m", "value"), Program::Named("register_array", "r"), Program::Number(0)});
    Describe(program, Program::Field("m", "value"));
    program.Assign(Program::Field("h", "copy"), Program::Field("m", "value"));
    const auto pipeline = program.Load();
    // -1 comes back as 255: neither negative nor what was given. Its bits are the same.
    EXPECT_EQ(Program::Send(*pipeline, {255, 0, 9}), (Bytes{255, 255, 0}));
    EXPECT_EQ(Program::Send(*pipeline, {128, 0, 9}), (Bytes{128, 128, 0}));
    EXPECT_EQ(Program::Send(*pipeline, {127, 0, 9}), (Bytes{127, 127, 2}));
}

TEST(P4Signed, ACopyIsTheSameNumber)
{
    auto program = MakeSignedProgram();
    program.Assign(Program::Field("m", "value"), Program::Field("h", "given"));
    program.Assign(Program::Field("h", "copy"), Program::Field("m", "value"));
    Describe(program, Program::Field("h", "copy"));
    const auto pipeline = program.Load();
    EXPECT_EQ(Program::Send(*pipeline, {255, 0, 9}), (Bytes{255, 255, 3}));
    EXPECT_EQ(Program::Send(*pipeline, {127, 0, 9}), (Bytes{127, 127, 2}));
    auto positive = MakeSignedProgram();
    positive.Assign(Program::Field("m", "value"), Program::Number(255));
    positive.Assign(Program::Field("h", "copy"), Program::Field("m", "value"));
    Describe(positive, Program::Field("h", "copy"));
    EXPECT_EQ(Program::Send(*positive.Load(), {255, 0, 9}), (Bytes{255, 255, 0}));
}

TEST(P4Signed, APacketThatIsReadAgainHasItsSign)
{
    auto program = MakeSignedProgram();
    // As the parser finds it the second time, whatever was written before.
    program.Get()["parsers"][0]["parse_states"] = ProgramJson::array();
    const auto set = [](const ProgramJson& to, const ProgramJson& from) {
        return ProgramJson{{"op", "set"}, {"parameters", Program::List({to, from})}};
    };
    program.AddState("start",
                     {set(Program::Field("h", "given"), Program::Number(255)),
                      Program::Extract("regular", "h")});
    Describe(program, Program::Field("h", "given"));
    EXPECT_EQ(Program::Send(*program.Load(), {255, 0, 9}), (Bytes{255, 0, 3}));
}

/// What BMv2 makes of a number that is written to a signed field.
Int128
StoreInBits(Int128 number, uint32_t bits)
{
    const Int128 one = 1;
    const Int128 mask = (one << bits) - 1;
    const Int128 largest = (one << (bits - 1)) - 1;
    if (number < -largest - 1 || number > mask)
    {
        number &= mask;
        number -= number > largest ? mask + 1 : 0;
    }
    return number;
}

TEST(P4Signed, EveryNumberBecomesWhatItIsInBmv2)
{
    std::mt19937_64 random(20261123);
    for (const uint32_t bits : {2U, 8U, 31U, 32U, 63U, 64U, 65U, 100U})
    {
        Program program;
        program.AddType(
            "h_t",
            {{"a", 64, false}, {"b", 64, false}, {"low", 64, false}, {"high", 64, false}});
        program.AddHeader("h", "h_t");
        program.AddType("m_t", {{"x", bits, true}, {"_padding", 128 - bits, false}});
        program.AddHeader("m", "m_t", true);
        program.AddState("start", {Program::Extract("regular", "h")});
        program.Emit({"h"});
        program.Assign(
            Program::Field("m", "x"),
            Program::Expression("-", Program::Field("h", "a"), Program::Field("h", "b")));
        program.Assign(Program::Field("h", "low"), Program::Field("m", "x"));
        program.Assign(Program::Field("h", "high"),
                       Program::Expression(">>", Program::Field("m", "x"), Program::Number(64)));
        const auto pipeline = program.Load();
        for (int round = 0; round < 200; ++round)
        {
            // Of all sizes, and at the edges of the field.
            const auto draw = [&random, bits] {
                const uint64_t edge = uint64_t{1} << std::min<uint64_t>(63, bits - random() % 2);
                return random() % 2 == 0 ? random() >> random() % 64 : edge + random() % 3 - 1;
            };
            const uint64_t a = draw();
            const uint64_t b = random() % 3 == 0 ? 0 : draw();
            Bytes frame(32);
            boost::endian::store_big_u64(frame.data(), a);
            boost::endian::store_big_u64(frame.data() + 8, b);
            const auto out = Program::Send(*pipeline, frame);
            ASSERT_EQ(out.size(), 32U);
            const Int128 expected =
                StoreInBits(static_cast<Int128>(a) - static_cast<Int128>(b), bits);
            EXPECT_EQ(boost::endian::load_big_u64(out.data() + 16), static_cast<uint64_t>(expected))
                << bits << ": " << a << " - " << b;
            EXPECT_EQ(boost::endian::load_big_u64(out.data() + 24),
                      static_cast<uint64_t>(expected >> 64))
                << bits << ": " << a << " - " << b;
        }
    }
}

} // namespace

} // namespace ns3::gradsync
