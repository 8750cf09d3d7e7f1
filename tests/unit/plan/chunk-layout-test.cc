// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/chunk-layout.h"

#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

std::vector<uint64_t>
GetSizes(const ChunkLayout& layout)
{
    std::vector<uint64_t> sizes;
    for (uint32_t chunk = 0; chunk < layout.GetChunkCount(); ++chunk)
    {
        sizes.push_back(layout.GetBytes(chunk, 1));
    }
    return sizes;
}

using Sizes = std::vector<uint64_t>;

TEST(ChunkLayout, IsEmptyByDefault)
{
    const ChunkLayout layout;
    EXPECT_EQ(layout.GetChunkCount(), 0u);
    EXPECT_EQ(layout.GetTotalBytes(), 0u);
    EXPECT_EQ(layout.GetBytes(0, 0), 0u);
}

TEST(ChunkLayout, CutsOnElementBoundariesAndLeavesTheTailToTheLastChunk)
{
    // 42 bytes are 10 floats and 2 bytes; boundaries floor(i*10/4) = 0, 2, 5, 7, then the end.
    const auto layout = ChunkLayout::Even(42, 4, 4);
    EXPECT_EQ(GetSizes(layout), (Sizes{8, 12, 8, 14}));
    EXPECT_EQ(layout.GetBytes(1, 2), 20u);
    EXPECT_EQ(layout.GetBytes(0, 4), 42u);
}

TEST(ChunkLayout, HasEmptyChunksWhenThereAreMoreChunksThanElements)
{
    // 2 elements in 5 chunks: boundaries floor(2i/5) = 0, 0, 0, 1, 1, 2.
    EXPECT_EQ(GetSizes(ChunkLayout::Even(8, 5, 4)), (Sizes{0, 0, 4, 0, 4}));
}

TEST(ChunkLayout, DoesNotOverflowOnHugeBuffers)
{
    const uint64_t total = uint64_t{1} << 62;
    const auto layout = ChunkLayout::Even(total, 3, 1);
    // 2^62 = 3q + 1 with q = (2^62 - 1) / 3: sizes q, q, q + 1.
    const uint64_t third = (total - 1) / 3;
    EXPECT_EQ(GetSizes(layout), (Sizes{third, third, third + 1}));
}

TEST(ChunkLayout, CutsInProportionToWeights)
{
    // 16 elements, weights 1:3:0 -> 4, 12, 0 elements, each in 2 chunks.
    EXPECT_EQ(GetSizes(ChunkLayout::Weighted(64, {1, 3, 0}, 2)), (Sizes{8, 8, 24, 24, 0, 0}));
}

TEST(ChunkLayout, RejectsWeightsThatAreNoShares)
{
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_THROW(ChunkLayout::Weighted(64, {1, -1}, 1), std::invalid_argument);
    EXPECT_THROW(ChunkLayout::Weighted(64, {0, 0}, 1), std::invalid_argument);
    EXPECT_THROW(ChunkLayout::Weighted(64, {}, 1), std::invalid_argument);
    EXPECT_THROW(ChunkLayout::Weighted(64, {1, infinity}, 1), std::invalid_argument);
    EXPECT_THROW(ChunkLayout::Weighted(64, {1, infinity - infinity}, 1), std::invalid_argument);
    EXPECT_THROW(ChunkLayout::Weighted(64, {1e308, 1e308}, 1), std::invalid_argument);
}

TEST(ChunkLayout, RejectsZeroChunksAndZeroElements)
{
    EXPECT_THROW(ChunkLayout::Even(64, 0, 4), std::invalid_argument);
    EXPECT_THROW(ChunkLayout::Even(64, 1, 0), std::invalid_argument);
    EXPECT_THROW(ChunkLayout::Weighted(64, {1}, 0), std::invalid_argument);
}

TEST(ChunkLayout, RefinesLayoutsToTheUnionOfTheirCuts)
{
    // Cuts of 24 bytes in 2: 12; in 3: 8, 16. Union 8, 12, 16.
    const auto layout =
        ChunkLayout::CommonRefinement({ChunkLayout::Even(24, 2, 1), ChunkLayout::Even(24, 3, 1)});
    EXPECT_EQ(GetSizes(layout), (Sizes{8, 4, 4, 8}));
    EXPECT_EQ(layout.FindChunk(12), 2u);
    EXPECT_EQ(layout.FindChunk(24), 4u);
    EXPECT_THROW(layout.FindChunk(13), std::invalid_argument);
    EXPECT_THROW(
        ChunkLayout::CommonRefinement({ChunkLayout::Even(24, 2), ChunkLayout::Even(28, 2)}),
        std::invalid_argument);
}

} // namespace

} // namespace ns3::gradsync
