// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/packed-offsets.h"
#include "ns3/workload-builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3::gradsync;
using testing::ElementsAre;
using testing::StrEq;
using testing::ThrowsMessage;

TEST(PackedOffsets, AreTheSumsOfTheLengthsBefore)
{
    std::vector<uint32_t> offsets{0, 3, 0, 5};
    SumUpOffsets(offsets, "tasks");
    EXPECT_THAT(offsets, ElementsAre(0, 3, 3, 8));
}

TEST(PackedOffsets, GoToTheLastNumberOf32Bits)
{
    // 2^31 + (2^31 - 1) = 2^32 - 1.
    std::vector<uint32_t> offsets{0, 1U << 31, (1U << 31) - 1};
    SumUpOffsets(offsets, "tasks");
    EXPECT_THAT(offsets, ElementsAre(0, 1U << 31, UINT32_MAX));
    EXPECT_NO_THROW(CheckNumbers(UINT32_MAX, "tasks"));
}

TEST(PackedOffsets, AreRefusedWhere32BitsWouldWrap)
{
    std::vector<uint32_t> offsets{0, 1U << 31, 1U << 31, 7};
    EXPECT_THAT([&] { SumUpOffsets(offsets, "edges"); },
                ThrowsMessage<WorkloadError>(
                    StrEq("a workload has at most 4,294,967,295 edges, not 4294967296")));
    EXPECT_THROW(CheckNumbers(uint64_t{1} << 32, "tasks"), WorkloadError);
}
