// SPDX-License-Identifier: GPL-2.0-only
#include "unit/scheme/scheme-test-support.h"

namespace ns3::gradsync
{

namespace
{

using testing::Each;

SchemeRequest
MakeRingRequest(uint32_t workers, uint64_t gradientBytes, int64_t pipelineChunks)
{
    return MakeRequest("ring", workers, gradientBytes, {{"pipelineChunks", pipelineChunks}});
}

TEST(RingScheme, IsAnAllReduce)
{
    for (uint32_t w = 1; w <= 33; ++w)
    {
        for (const int64_t m : {1, 2, 5})
        {
            SCOPED_TRACE(fmt::format("w {} m {}", w, m));
            EXPECT_THAT(BuildPlan("ring", MakeRingRequest(w, 10007, m)), IsAllReduce());
        }
    }
}

TEST(RingScheme, SkipsPartsWithoutElements)
{
    // 5 floats among 9 workers: 4 parts are empty and are not sent.
    const auto request = MakeRingRequest(9, 20, 1);
    EXPECT_THAT(BuildPlan("ring", request), IsAllReduce());
    EXPECT_EQ(ComputeStatistics("ring", request).transferCount, 5u * 2 * 8);
}

TEST(RingScheme, MovesAndChainsAsTheClosedForms)
{
    for (uint32_t w = 2; w <= 33; ++w)
    {
        for (const int64_t m : {1, 3})
        {
            SCOPED_TRACE(fmt::format("w {} m {}", w, m));
            const auto statistics =
                ComputeStatistics("ring", MakeRingRequest(w, SHARD_BYTES * w, m));
            // Reference section 1: every rank sends and receives 2(w-1)K/w, in a chain of 2(w-1).
            EXPECT_THAT(statistics.sentBytes, Each(2 * SHARD_BYTES * (w - 1)));
            EXPECT_THAT(statistics.receivedBytes, Each(2 * SHARD_BYTES * (w - 1)));
            EXPECT_EQ(statistics.GetLongestChain(), 2 * (w - 1));
            EXPECT_EQ(statistics.joinCount, 0u);
            // Nothing but the data dependencies: in each round every rank sends one part.
            EXPECT_THAT(statistics.transfersPerRound, Each(w * m));
        }
    }
}

TEST(RingScheme, CrossesRacksAsTheClosedForm)
{
    for (const uint32_t racks : {2u, 3u, 4u})
    {
        auto request = MakeRingRequest(racks * 8, racks * SHARD_BYTES * 8, 1);
        request.groups.levels = {MakeLevel("rack", Repeat(racks, 8), 2.0)};
        // 2r(1 - 1/w)K = 2r(w-1)K/w.
        EXPECT_EQ(ComputeStatistics("ring", request).crossings.at(0).bytes,
                  2 * SHARD_BYTES * racks * (racks * 8 - 1));
    }
}

} // namespace

} // namespace ns3::gradsync
