// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/differential-transmission.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace ns3::gradsync
{
namespace
{

TEST(DifferentialTransmission, TheShareAndTheLastBlockAreReliable)
{
    // Blocks are counted one by one: those before the droppable ones, and the last.
    std::mt19937_64 random(31);
    for (int round = 0; round < 2000; ++round)
    {
        const auto block = 1 + random() % 5000;
        const auto bytes = random() % 200'000;
        const auto share = static_cast<double>(random() % 1001) / 1000.0;
        const auto droppable = DifferentialTransmission{share, block}.FindDroppable(bytes);
        uint64_t blocks = 0;
        uint64_t reliable = 0;
        for (uint64_t begin = 0; begin < bytes; begin += block)
        {
            ++blocks;
            const auto end = std::min(begin + block, bytes);
            const bool isDroppable = begin >= droppable.begin && end <= droppable.end;
            // None is cut.
            EXPECT_TRUE(isDroppable || end <= droppable.begin || begin >= droppable.end);
            reliable += isDroppable ? 0 : 1;
        }
        if (blocks == 0)
        {
            EXPECT_TRUE(droppable.IsEmpty());
            continue;
        }
        const auto wanted =
            static_cast<uint64_t>(std::llround(share * static_cast<double>(blocks)));
        EXPECT_EQ(reliable, wanted >= blocks ? blocks : wanted + 1)
            << bytes << " bytes in blocks of " << block << ", " << share;
        EXPECT_TRUE(droppable.IsEmpty() || droppable.end < bytes);
    }
}

TEST(DifferentialTransmission, NothingMayBeLostOfAllOrOfOneBlock)
{
    EXPECT_TRUE(DifferentialTransmission{}.FindDroppable(1'000'000).IsEmpty());
    EXPECT_TRUE((DifferentialTransmission{0.0, 4096}.FindDroppable(4096).IsEmpty()));
    EXPECT_EQ((DifferentialTransmission{0.0, 4096}.FindDroppable(4097)), (ByteRange{0, 4096}));
    EXPECT_TRUE((DifferentialTransmission{0.0, 4096}.FindDroppable(0).IsEmpty()));
}

} // namespace
} // namespace ns3::gradsync
