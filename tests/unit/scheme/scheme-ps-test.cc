// SPDX-License-Identifier: GPL-2.0-only
#include "unit/scheme/scheme-test-support.h"

namespace ns3::gradsync
{

namespace
{

using testing::Each;

SchemeRequest
MakePsRequest(uint32_t workers,
              uint64_t gradientBytes,
              int64_t servers,
              int64_t pipelineChunks,
              bool barrier)
{
    return MakeRequest(
        "ps",
        workers,
        gradientBytes,
        {{"servers", servers}, {"pipelineChunks", pipelineChunks}, {"barrier", barrier}});
}

TEST(PsScheme, IsAnAllReduce)
{
    for (uint32_t w = 1; w <= 33; ++w)
    {
        for (const int64_t servers : {0, 1, 3, 40})
        {
            for (const int64_t m : {1, 4})
            {
                for (const bool barrier : {false, true})
                {
                    SCOPED_TRACE(fmt::format("w {} p {} m {} barrier {}", w, servers, m, barrier));
                    EXPECT_THAT(BuildPlan("ps", MakePsRequest(w, 10007, servers, m, barrier)),
                                IsAllReduce());
                }
            }
        }
    }
}

TEST(PsScheme, SkipsShardsWithoutElements)
{
    // 5 floats among 9 co-located servers: 5 shards, each pushed by 8 workers and pulled by 8.
    const auto request = MakePsRequest(9, 20, 0, 1, false);
    EXPECT_THAT(BuildPlan("ps", request), IsAllReduce());
    EXPECT_EQ(ComputeStatistics("ps", request).transferCount, 5u * 2 * 8);
}

TEST(PsScheme, MovesAndChainsAsTheClosedFormsWhenCoLocated)
{
    for (uint32_t w = 2; w <= 33; ++w)
    {
        for (const bool barrier : {false, true})
        {
            SCOPED_TRACE(fmt::format("w {} barrier {}", w, barrier));
            const auto request = MakePsRequest(w, SHARD_BYTES * w, 0, 3, barrier);
            const auto statistics = ComputeStatistics("ps", request);
            // The own shard never touches the network: (w-1)K/w per phase, in a chain of 2.
            EXPECT_THAT(statistics.sentBytes, Each(2 * SHARD_BYTES * (w - 1)));
            EXPECT_THAT(statistics.receivedBytes, Each(2 * SHARD_BYTES * (w - 1)));
            EXPECT_EQ(statistics.GetLongestChain(), 2u);
            EXPECT_EQ(statistics.transferCount, 2u * w * (w - 1) * 3);
            EXPECT_EQ(statistics.joinCount, barrier ? 1u : 3u * w);
        }
    }
}

TEST(PsScheme, MovesAsTheClosedFormsWithDedicatedServers)
{
    const uint64_t gradient = 2400;
    for (const uint32_t servers : {1u, 2u, 4u})
    {
        const auto statistics =
            ComputeStatistics("ps", MakePsRequest(6, gradient, servers, 1, false));
        for (uint32_t rank = 0; rank < 6 + servers; ++rank)
        {
            // Per phase a worker moves K, a server w shards of K/p.
            const auto bytes = rank < 6 ? 2 * gradient : 2 * gradient * 6 / servers;
            EXPECT_EQ(statistics.sentBytes[rank] + statistics.receivedBytes[rank], bytes);
        }
        EXPECT_EQ(statistics.GetLongestChain(), 2u);
    }
}

TEST(PsScheme, CrossesRacksAsTheClosedForm)
{
    for (const uint32_t racks : {2u, 3u, 4u})
    {
        const uint32_t w = racks * 8;
        auto request = MakePsRequest(w, w * SHARD_BYTES, 0, 1, false);
        request.groups.levels = {MakeLevel("rack", Repeat(racks, 8), 2.0)};
        // 2(w - w_r)K.
        EXPECT_EQ(ComputeStatistics("ps", request).crossings.at(0).bytes,
                  2 * SHARD_BYTES * w * (w - 8));
    }
}

TEST(PsScheme, RotatesDestinations)
{
    // The first push of worker i goes to i + 1, the first pull from server i to i + 1.
    const auto plan = BuildPlan("ps", MakePsRequest(7, 700, 0, 1, false));
    std::vector<std::vector<uint32_t>> destinations(7);
    for (const auto& operation : plan.GetOperations())
    {
        if (operation.IsTransfer())
        {
            destinations[operation.src].push_back(operation.dst);
        }
    }
    for (uint32_t rank = 0; rank < 7; ++rank)
    {
        for (uint32_t turn = 0; turn < 12; ++turn)
        {
            EXPECT_EQ(destinations[rank][turn], (rank + 1 + turn % 6) % 7);
        }
    }
}

TEST(PsScheme, FitsOneThousandWorkersInMemory)
{
    const auto plan = BuildPlan("ps", MakePsRequest(1024, 97'000'000, 0, 1, false));
    // One by one they would be 2.1 million operations of 24 B, as many edges of 4 B and one more
    // index of 4 B each: 67.1 MB. A block of 128 takes 13 numbers of 4 B for operations, and 3 each
    // for edges, their index and counts of predecessors: 88 B, 0.6875 B an operation, 1,441,088 B.
    // Pushes and pulls of a rank wrap around once among their 1,023 rows, at one of 128 places of a
    // block: the patterns of that, 512 B each, for no more than four columns, are 262,144 B.
    EXPECT_EQ(plan.GetOperations().size(), 2u * 1024 * 1023 + 1024);
    EXPECT_GT(plan.GetMemoryBytes(), 1'441'088u);
    EXPECT_LT(plan.GetMemoryBytes(), 1'441'088u + 262'144);
}

} // namespace

} // namespace ns3::gradsync
