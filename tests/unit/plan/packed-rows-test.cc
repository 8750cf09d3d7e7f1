// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/operation-table.h"
#include "ns3/packed-rows.h"

#include <algorithm>
#include <array>
#include <gmock/gmock.h>
#include <random>
#include <vector>

namespace ns3::gradsync
{

namespace
{

using testing::ElementsAre;
using testing::ElementsAreArray;

std::vector<uint32_t>
Unpack(const PackedRows<1>& rows)
{
    std::vector<uint32_t> values;
    for (size_t row = 0; row < rows.GetSize(); ++row)
    {
        values.push_back(rows.Get(row, 0));
    }
    return values;
}

PackedRows<1>
Pack(const std::vector<uint32_t>& values)
{
    PackedRows<1> rows;
    for (const auto value : values)
    {
        rows.Append({value});
    }
    return rows;
}

TEST(PackedRows, GivesBackWhateverWasAppendedAtEveryLength)
{
    // Steady runs of random steps, also negative, around random values: blocks that are lines, and
    // lines that break at each place of a block, the third row (where a line may first break) too.
    std::mt19937 random(1);
    for (size_t length = 0; length <= 200; ++length)
    {
        std::vector<uint32_t> values;
        uint32_t value = 0;
        uint32_t step = 0;
        while (values.size() < length)
        {
            if (random() % 16 == 0)
            {
                value = random();
                step = random() % 2 == 0 ? random() % 3 - 1 : random();
            }
            values.push_back(value);
            value += step;
        }
        EXPECT_THAT(Unpack(Pack(values)), ElementsAreArray(values)) << length;
    }
}

TEST(PackedRows, CountsModuloTwoToThe32)
{
    EXPECT_THAT(Unpack(Pack({1, 0, 0xFFFFFFFF, 0xFFFFFFFE, 7})),
                ElementsAre(1, 0, 0xFFFFFFFF, 0xFFFFFFFE, 7));
}

TEST(PackedRows, KeepsTheColumnsOfARowApart)
{
    PackedRows<3> rows;
    for (uint32_t row = 0; row < 100; ++row)
    {
        rows.Append({5, 3 * row, row * row});
    }
    for (uint32_t row = 0; row < 100; ++row)
    {
        EXPECT_THAT(rows.GetRow(row), ElementsAre(5, 3 * row, row * row));
        EXPECT_EQ(rows.Get(row, 2), row * row);
    }
}

TEST(PackedRows, GoesOnAfterATrimAtEveryLength)
{
    for (uint32_t length = 0; length <= 260; ++length)
    {
        PackedRows<2> rows;
        std::vector<PackedRows<2>::Row> expected;
        for (uint32_t i = 0; i < length + 150; ++i)
        {
            if (i == length)
            {
                rows.Trim();
            }
            expected.push_back({i * i, 7 - i});
            rows.Append(expected.back());
        }
        ASSERT_EQ(rows.GetSize(), expected.size());
        for (size_t i = 0; i < expected.size(); ++i)
        {
            ASSERT_EQ(rows.GetRow(i), expected[i]) << length;
        }
    }
}

TEST(PackedRows, OfAFewRowsTakesTheirBytesOnceTrimmed)
{
    // Three rows of two numbers of four bytes.
    PackedRows<2> rows;
    for (uint32_t i = 0; i < 3; ++i)
    {
        rows.Append({i, i});
    }
    rows.Trim();
    EXPECT_EQ(rows.GetMemoryBytes(), 24U);
}

TEST(PackedRows, GivesBackLongTablesOfLinesPatternsAndNoise)
{
    // The third block is the first that is packed once more: of 128 such blocks, 16,384 rows,
    // one is made. Lengths around all of these ends.
    constexpr size_t NEAR = 2;
    std::mt19937 random(2);
    for (const size_t length :
         {255, 256, 257, 383, 384, 385, 16'639, 16'640, 16'641, 33'024, 40'000})
    {
        PackedRows<3, NEAR> rows;
        std::vector<std::array<uint32_t, 3>> values;
        for (uint32_t row = 0; row < length; ++row)
        {
            const uint32_t noise = row / 1000 % 3 == 1 ? random() : 0;
            values.push_back({row * row % 97 + row / 128, 7 - 3 * row, noise});
            rows.Append(values.back());
        }
        ASSERT_EQ(rows.GetSize(), length);
        for (uint32_t row = 0; row < length; ++row)
        {
            ASSERT_EQ(rows.GetRow(row), values[row]) << length << ", " << row;
            ASSERT_EQ(rows.Get(row, row % 3), values[row][row % 3]) << length << ", " << row;
        }
    }
}

TEST(PackedRows, VisitsAnyRangeOfRows)
{
    // Ranges that begin and end within blocks and in what is not in one yet, near and far.
    constexpr size_t NEAR = 2;
    std::mt19937 random(3);
    PackedRows<3, NEAR> rows;
    for (uint32_t row = 0; row < 17'000; ++row)
    {
        rows.Append({row * row % 97, 7 - 3 * row, static_cast<uint32_t>(random())});
    }
    for (int round = 0; round < 200; ++round)
    {
        const size_t first = random() % (rows.GetSize() + 1);
        const auto last = std::min(rows.GetSize(), first + random() % 400);
        auto next = first;
        rows.ForEachRow(first, last, [&](size_t row, const auto& values) {
            ASSERT_EQ(row, next++);
            ASSERT_EQ(values, rows.GetRow(row));
        });
        EXPECT_EQ(next, last);
    }
}

TEST(PackedRows, AppendsManyRowsAsItAppendsOneByOne)
{
    // Runs of up to three blocks, each behind some rows alone and at times a trim.
    std::mt19937 random(4);
    PackedRows<1, 2> together;
    PackedRows<1, 2> oneByOne;
    for (int round = 0; round < 200; ++round)
    {
        std::vector<uint32_t> values(random() % 400);
        std::ranges::generate(values, [&] { return static_cast<uint32_t>(random() % 3); });
        together.AppendAll(values);
        std::ranges::for_each(values, [&](auto value) { oneByOne.Append({value}); });
        const auto alone = static_cast<uint32_t>(random());
        together.Append({alone});
        oneByOne.Append({alone});
        if (random() % 10 == 0)
        {
            together.Trim();
        }
    }
    ASSERT_EQ(together.GetSize(), oneByOne.GetSize());
    for (size_t row = 0; row < together.GetSize(); ++row)
    {
        ASSERT_EQ(together.GetRow(row), oneByOne.GetRow(row)) << row;
    }
}

TEST(PackedRows, AppendsRowsAgainAsItAppendsOthers)
{
    // Stretches from anywhere to anywhere, the open block among them, behind whatever length; every
    // other one from block to block (of 128 rows), behind whole blocks where the length allows.
    std::mt19937 random(5);
    PackedRows<2, 3> again;
    std::vector<std::array<uint32_t, 2>> expected;
    const auto append = [&](uint32_t count, uint32_t noise) {
        for (uint32_t i = 0; i < count; ++i)
        {
            expected.push_back({i * 3, static_cast<uint32_t>(random() % noise)});
            again.Append(expected.back());
        }
    };
    append(1000, 5);
    for (uint32_t round = 0; round < 200; ++round)
    {
        const uint32_t grain = round % 2 == 0 ? 1 : 128;
        append(round % 4 == 1 ? (128 - expected.size() % 128) % 128 : random() % 3, 1);
        const auto last = random() % (expected.size() / grain + 1) * grain;
        const auto first = last - std::min<size_t>(last, random() % 6 * grain);
        const auto one = static_cast<uint32_t>(random());
        const auto other = static_cast<uint32_t>(random() % 2);
        again.AppendAgain(first, last, {one, other});
        for (auto row = first; row < last; ++row)
        {
            expected.push_back({expected[row][0] + one, expected[row][1] + other});
        }
        if (round % 16 == 0)
        {
            again.Trim();
        }
    }
    ASSERT_EQ(again.GetSize(), expected.size());
    for (size_t row = 0; row < expected.size(); ++row)
    {
        ASSERT_EQ(again.GetRow(row), expected[row]) << row;
    }
}

TEST(PackedRows, TakesTwelveBytesForABlockThatComesAgain)
{
    // Noise is a pattern of 512 bytes, once; each block has 12 beside it, as a line has.
    std::mt19937 random(6);
    PackedRows<1> rows;
    for (uint32_t i = 0; i < 128; ++i)
    {
        rows.Append({static_cast<uint32_t>(random())});
    }
    for (uint32_t copy = 1; copy < 1000; ++copy)
    {
        rows.AppendAgain(0, 128, {copy});
    }
    rows.Trim();
    EXPECT_EQ(rows.GetMemoryBytes(), 1000U * 12 + 512);
}

TEST(PackedRows, VisitsAllValuesOfAColumn)
{
    // Lengths within the first block, at the ends of near ones, and far.
    constexpr size_t NEAR = 2;
    std::mt19937 random(5);
    for (const size_t length : {0, 1, 127, 128, 129, 256, 257, 5'000, 17'000})
    {
        PackedRows<3, NEAR> rows;
        for (uint32_t row = 0; row < length; ++row)
        {
            rows.Append({row * row % 97, 7 - 3 * row, static_cast<uint32_t>(random())});
        }
        for (size_t column = 0; column < 3; ++column)
        {
            for (const size_t count : {length, size_t{random() % (length + 1)}})
            {
                size_t next = 0;
                rows.ForEachValue(column, count, [&](size_t row, uint32_t value) {
                    ASSERT_EQ(row, next++);
                    ASSERT_EQ(value, rows.Get(row, column));
                });
                EXPECT_EQ(next, count);
            }
        }
    }
}

TEST(PackedRows, TakesTwelveBytesForABlockThatIsALine)
{
    PackedRows<1> rows;
    for (uint32_t row = 0; row < 1280; ++row)
    {
        rows.Append({1000 - row});
    }
    rows.Trim();
    // 10 blocks of 128 rows: 8 bytes of the line and 4 that tell of patterns.
    EXPECT_EQ(rows.GetMemoryBytes(), 10u * 12);
}

TEST(PackedRows, TakesNearlyNothingForALongLine)
{
    constexpr size_t NEAR = 3;
    PackedRows<1, NEAR> rows;
    for (uint32_t row = 0; row < 128 * (NEAR + 128 * 10); ++row)
    {
        rows.Append({1000 - row});
    }
    rows.Trim();
    // Each 128 of the blocks behind the first ones are a block of three columns: 7 numbers.
    EXPECT_EQ(rows.GetMemoryBytes(), NEAR * 12 + 10 * 7 * 4);
}

TEST(PackedRows, KeepsAPatternOnce)
{
    PackedRows<1> rows;
    for (uint32_t row = 0; row < 1280; ++row)
    {
        rows.Append({row / 128 * 5 + row % 128 * (row % 128)});
    }
    rows.Trim();
    // 0, 1, 4, 9, ... beside ten blocks.
    EXPECT_EQ(rows.GetMemoryBytes(), 128u * 4 + 10 * 12);
}

TEST(PackedRows, TakesFourBytesAValueMoreForNoise)
{
    std::mt19937 random(3);
    PackedRows<1> rows;
    for (uint32_t row = 0; row < 1280; ++row)
    {
        rows.Append({static_cast<uint32_t>(random())});
    }
    rows.Trim();
    EXPECT_EQ(rows.GetMemoryBytes(), 10u * (128 * 4 + 12));
}

TEST(OperationTable, KeepsEveryFieldOfAnOperation)
{
    OperationTable table;
    const Operation written{OperationKind::Gate,
                            {255, 254},
                            0xFFFFFFFF,
                            0xFFFFFFFE,
                            0xFFFFFFFD,
                            0xFFFFFFFC,
                            0xFFFFFFFB};
    table.Append({});
    table.Append(written);
    const auto read = table.MakeItem(1);
    EXPECT_EQ(read.kind, written.kind);
    EXPECT_EQ(read.buffers.src, written.buffers.src);
    EXPECT_EQ(read.buffers.dst, written.buffers.dst);
    EXPECT_EQ(read.src, written.src);
    EXPECT_EQ(read.dst, written.dst);
    EXPECT_EQ(read.firstChunk, written.firstChunk);
    EXPECT_EQ(read.chunkCount, written.chunkCount);
    EXPECT_EQ(read.stream, written.stream);
}

} // namespace

} // namespace ns3::gradsync
