// SPDX-License-Identifier: GPL-2.0-only
// The schemes of two levels: groups or servers inside, shards among them.
#include "unit/scheme/scheme-test-support.h"

#include <algorithm>
#include <random>

namespace ns3::gradsync
{

namespace
{

using testing::Each;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Racks of `size`, `count` of them, as the only level.
std::vector<GroupLevel>
MakeLevels(const std::string& name, uint32_t count, uint32_t size)
{
    return {MakeLevel(name, Repeat(count, size), 1.0)};
}

TEST(PlinkScheme, IsAnAllReduceOnAnyRacks)
{
    ExpectAllReduceOnAnyRacks("plink", {});
    ExpectAllReduceOnAnyRacks("plink", {{"groupSize", int64_t{4}}, {"pipelineChunks", int64_t{3}}});
}

TEST(PlinkScheme, MovesCrossesAndChainsAsTheClosedForms)
{
    for (const uint32_t racks : {2u, 3u, 4u})
    {
        for (const uint32_t size : {2u, 3u, 5u})
        {
            const uint32_t w = racks * size;
            const auto statistics = ComputeStatistics(
                "plink",
                MakeRequest("plink", w, SHARD_BYTES * w, {}, MakeLevels("rack", racks, size)));
            EXPECT_THAT(statistics.sentBytes, Each(2 * SHARD_BYTES * (w - 1)));
            EXPECT_THAT(statistics.receivedBytes, Each(2 * SHARD_BYTES * (w - 1)));
            EXPECT_EQ(statistics.crossings.at(0).bytes,
                      uint64_t{2} * (racks - 1) * SHARD_BYTES * w); // 2(r-1)K
            EXPECT_EQ(statistics.GetLongestChain(), 4u);
        }
    }
}

TEST(PlinkScheme, CrossesUnevenRacksOnlyWithTheirSums)
{
    // Racks of 5, 3 and 1: every slice has one owner a rack, so 2(3 - 1)K whatever their sizes.
    const auto request = MakeRequest("plink",
                                     9,
                                     uint64_t{9} * 5 * SHARD_BYTES,
                                     {},
                                     {MakeLevel("rack", {5, 3, 1}, 2.0)});
    EXPECT_EQ(ComputeStatistics("plink", request).crossings.at(0).bytes,
              uint64_t{4} * 9 * 5 * SHARD_BYTES);
}

TEST(SparseSchemes, AreAllReducesOnAnyNodes)
{
    for (const int64_t pieces : {1, 3})
    {
        ExpectAllReduceOnAnyRacks(
            "bbtopk",
            {{"groupLevel", std::string("rack")}, {"pipelineChunks", pieces}});
        ExpectAllReduceOfAnyCount("ok-topk", {{"pipelineChunks", pieces}});
    }
}

TEST(BbTopKScheme, SendsItsNodesSumsToAllOtherNodes)
{
    for (const uint32_t g : {1U, 2U, 4U})
    {
        for (uint32_t n = 1; n <= 5; ++n)
        {
            const auto statistics = ComputeStatistics(
                "bbtopk",
                MakeRequest("bbtopk", n * g, SHARD_BYTES * g, {{"groupSize", int64_t{g}}}));
            // 2(g-1)K/g inside, (n-1)K/g to others, of K = g shards; chain 3, what one is missing.
            EXPECT_THAT(statistics.sentBytes, Each(SHARD_BYTES * (2 * (g - 1) + n - 1)));
            EXPECT_THAT(statistics.receivedBytes, Each(SHARD_BYTES * (2 * (g - 1) + n - 1)));
            EXPECT_EQ(statistics.GetLongestChain(), (g > 1 ? 2U : 0U) + (n > 1 ? 1U : 0U));
        }
    }
}

TEST(BytePsScheme, IsAnAllReduceOnAnyServers)
{
    for (const int64_t cpuMachines : {0, 1, 3, 40})
    {
        ExpectAllReduceOnAnyRacks(
            "byteps",
            {{"cpuMachines", cpuMachines}, {"groupLevel", std::string("rack")}});
    }
    ExpectAllReduceOnAnyRacks("byteps",
                              {{"cpuMachines", int64_t{2}}, {"pipelineChunks", int64_t{3}}});
}

TEST(BytePsScheme, LoadsAllMachinesAlikeUpToAsManyCpuMachines)
{
    for (uint32_t n = 2; n <= 9; ++n)
    {
        for (uint32_t k = 0; k <= n; ++k)
        {
            const uint32_t denominator = n * n + k * n - 2 * k;
            const uint64_t gradient = SHARD_BYTES * denominator;
            const auto statistics = ComputeStatistics(
                "byteps",
                MakeRequest("byteps", n, gradient, {{"cpuMachines", int64_t{k}}}));
            // 2n(n-1)K/(n^2 + kn - 2k) on each machine, CPU or GPU, both ways.
            EXPECT_THAT(statistics.sentBytes, Each(uint64_t{2} * n * (n - 1) * SHARD_BYTES))
                << n << " " << k;
            EXPECT_THAT(statistics.receivedBytes, Each(uint64_t{2} * n * (n - 1) * SHARD_BYTES));
        }
    }
}

TEST(BytePsScheme, HasTheLoadsOfTheReference)
{
    // n = 4: 3/2, 4/3 and 1 K for k = 0, 1 and 4.
    const std::vector<std::pair<int64_t, uint64_t>> twelfths = {{0, 18}, {1, 16}, {4, 12}};
    for (const auto& [k, load] : twelfths)
    {
        const auto request = MakeRequest("byteps", 4, uint64_t{144} * 12, {{"cpuMachines", k}});
        EXPECT_EQ(ComputeStatistics("byteps", request).GetPeakSentBytes(), load * 144);
    }
}

TEST(BytePsScheme, LeavesMoreCpuMachinesThanGpuMachinesAllTheServing)
{
    // n = 2, k = 3: every GPU machine only pushes and pulls K, every CPU machine serves K/3.
    const auto statistics =
        ComputeStatistics("byteps", MakeRequest("byteps", 2, 3600, {{"cpuMachines", int64_t{3}}}));
    EXPECT_THAT(statistics.sentBytes, testing::ElementsAre(3600, 3600, 2400, 2400, 2400));
    EXPECT_EQ(statistics.GetLongestChain(), 2u);
}

TEST(PsRingScheme, IsAnAllReduceOnAnyServers)
{
    for (const int64_t servers : {0, 1, 3})
    {
        ExpectAllReduceOnAnyRacks("ps-ring",
                                  {{"servers", servers}, {"groupLevel", std::string("rack")}});
    }
    ExpectAllReduceOnAnyRacks("ps-ring", {{"pipelineChunks", int64_t{3}}});
}

TEST(PsRingScheme, PushesTheGradientOncePerServerAndNotPerGpu)
{
    for (const uint32_t machines : {1u, 2u, 4u})
    {
        for (const uint32_t gpus : {1u, 2u, 4u})
        {
            for (const uint32_t servers : {1u, 2u})
            {
                const uint32_t w = machines * gpus;
                const uint64_t gradient = SHARD_BYTES * 16;
                const auto statistics =
                    ComputeStatistics("ps-ring",
                                      MakeRequest("ps-ring",
                                                  w,
                                                  gradient,
                                                  {{"servers", int64_t{servers}}},
                                                  MakeLevels("server", machines, gpus)));
                EXPECT_EQ(statistics.crossings.at(0).bytes,
                          uint64_t{2} * machines * gradient); // 2sK
                for (uint32_t server = 0; server < servers; ++server)
                {
                    EXPECT_EQ(statistics.receivedBytes[w + server], machines * gradient / servers);
                }
                // A GPU: (n-1)/n K in each ring and its slice of K/n to the servers.
                EXPECT_EQ(statistics.sentBytes[0],
                          2 * gradient * (gpus - 1) / gpus + gradient / gpus);
                EXPECT_EQ(statistics.GetLongestChain(), 2 * (gpus - 1) + 2);
            }
        }
    }
}

TEST(GeoHipsScheme, IsAnAllReduceWithAnyParties)
{
    for (const int64_t parties : {1, 2, 3, 5})
    {
        for (uint32_t w = std::max(2u, static_cast<uint32_t>(parties)); w <= 33; ++w)
        {
            for (const auto& level : MakeRackShapes(w, 2.0))
            {
                const auto request =
                    MakeRequest("geo-hips",
                                w,
                                10007,
                                {{"parties", parties}, {"pipelineChunks", int64_t{3}}},
                                {level});
                EXPECT_THAT(BuildPlan("geo-hips", request), IsAllReduce());
            }
        }
    }
}

TEST(GeoHipsScheme, MovesAsTheClosedForms)
{
    for (const uint32_t parties : {1u, 2u, 3u})
    {
        const uint32_t members = 4;
        const uint32_t w = parties * members;
        const uint64_t gradient = 1200;
        const auto statistics = ComputeStatistics(
            "geo-hips",
            MakeRequest("geo-hips", w, gradient, {{"parties", int64_t{parties}}}));
        for (uint32_t rank = 0; rank < w; ++rank)
        {
            EXPECT_EQ(statistics.sentBytes[rank], gradient);
        }
        for (uint32_t party = 0; party < parties; ++party)
        {
            EXPECT_EQ(statistics.sentBytes[w + party], (members + 1) * gradient);
        }
        // Into and out of the global server: 2PK over the WAN.
        EXPECT_EQ(statistics.receivedBytes.back() + statistics.sentBytes.back(),
                  uint64_t{2} * parties * gradient);
        EXPECT_EQ(statistics.GetLongestChain(), 4u);
    }
}

TEST(GeoHipsScheme, TakesTheLevelWithAsManyGroupsAsParties)
{
    // Ranks dealt to two sites in turn: the pushes of rank 0 and 2 go to the same server, 6 + 0.
    const auto plan =
        BuildPlan("geo-hips",
                  MakeRequest("geo-hips", 6, 1200, {}, {MakeInterleavedLevel(6, 2, 1.0)}));
    for (const auto& operation : plan.GetOperations())
    {
        if (operation.src < 6)
        {
            EXPECT_EQ(operation.dst, 6 + operation.src % 2);
        }
    }
}

TEST(GeoHipsScheme, RejectsMorePartiesThanWorkers)
{
    for (const auto* scheme : {"geo-hips", "parameter-hub"})
    {
        EXPECT_THAT([&] { BuildPlan(scheme, MakeRequest(scheme, 1, 1200)); },
                    ThrowsMessage<SchemeError>(HasSubstr("is 2, but there are only 1 workers")));
    }
}

TEST(ParameterHubScheme, IsAnAllReduceWithAnyBoxes)
{
    for (const int64_t boxes : {1, 2, 3})
    {
        for (uint32_t w = std::max(2u, static_cast<uint32_t>(boxes)); w <= 33; ++w)
        {
            for (const auto& level : MakeRackShapes(w, 2.0))
            {
                const auto request = MakeRequest("parameter-hub",
                                                 w,
                                                 10007,
                                                 {{"boxes", boxes}, {"chunkBytes", int64_t{1024}}},
                                                 {level});
                EXPECT_THAT(BuildPlan("parameter-hub", request), IsAllReduce());
            }
        }
    }
}

TEST(ParameterHubScheme, MovesAndChainsAsTheClosedForms)
{
    for (const uint32_t racks : {1u, 2u, 3u})
    {
        const uint32_t size = 4;
        const uint32_t w = racks * size;
        const uint64_t gradient = uint64_t{1200} * racks;
        const auto statistics =
            ComputeStatistics("parameter-hub",
                              MakeRequest("parameter-hub",
                                          w,
                                          gradient,
                                          {{"boxes", int64_t{racks}}, {"chunkBytes", int64_t{100}}},
                                          MakeLevels("rack", racks, size)));
        for (uint32_t rank = 0; rank < w; ++rank)
        {
            EXPECT_EQ(statistics.sentBytes[rank], gradient);
        }
        for (uint32_t box = 0; box < racks; ++box)
        {
            // The answers to the rack, and a co-located PS among the boxes: 2(R-1)/R K.
            EXPECT_EQ(statistics.sentBytes[w + box],
                      size * gradient + 2 * gradient * (racks - 1) / racks);
        }
        EXPECT_EQ(statistics.GetLongestChain(), racks == 1 ? 2u : 4u);
    }
}

TEST(BytePsScheme, IsAnAllReduceInPartitionsOfLayers)
{
    for (const auto* order : {"priority", "backward"})
    {
        for (const int64_t credit : {0, 1, 2})
        {
            for (const uint32_t w : {1u, 2u, 5u, 8u})
            {
                const auto request =
                    MakeRequest("byteps",
                                w,
                                10007,
                                {{"partitionBytes", int64_t{1000}},
                                 {"layers", std::vector<double>{7, 4000, 6000}},
                                 {"order", std::string(order)},
                                 {"credit", credit},
                                 {"cpuMachines", int64_t{w / 4}}},
                                w == 8 ? MakeLevels("server", 4, 2) : std::vector<GroupLevel>{});
                EXPECT_THAT(BuildPlan("byteps", request), IsAllReduce());
            }
        }
    }
}

TEST(BytePsScheme, SendsPartitionsOneAfterTheOtherWithACreditOfOne)
{
    // A push and a pull for each of 1 + 2 + 3 partitions of layers of 100, 200 and 300 bytes; 4
    // single hosts exchange 2 * 3 messages a shard.
    const auto count = [](int64_t credit) {
        return ComputeStatistics("byteps",
                                 MakeRequest("byteps",
                                             4,
                                             4800,
                                             {{"partitionBytes", int64_t{800}},
                                              {"layers", std::vector<double>{800, 1600, 2400}},
                                              {"credit", credit}}));
    };
    EXPECT_EQ(count(0).GetLongestChain(), 2u);
    EXPECT_EQ(count(1).GetLongestChain(), 2u * 6);
    EXPECT_EQ(count(2).GetLongestChain(), 2u * 3); // partitions 0, 2, 4 and 1, 3, 5
    EXPECT_EQ(count(0).totalBytes, count(1).totalBytes);
    EXPECT_EQ(count(1).transferCount, 6u * 4 * 2 * 3);
}

TEST(BytePsScheme, CutsLayersInItsOwnPartitionsByDefault)
{
    // Layers of 10, 2 and 4.096 MB: ceil(10 / 4.096) + 1 + 1 partitions of at most 4,096,000 bytes.
    const auto count = [](int64_t partitionBytes, std::vector<double> layers) {
        return ComputeStatistics(
                   "byteps",
                   MakeRequest("byteps",
                               4,
                               16'096'000,
                               {{"partitionBytes", partitionBytes}, {"layers", std::move(layers)}}))
            .transferCount;
    };
    const std::vector<double> layers{10e6, 2e6, 4.096e6};
    EXPECT_EQ(count(0, layers), 5u * 4 * 2 * 3);
    EXPECT_EQ(count(0, layers), count(4'096'000, layers));
    EXPECT_EQ(count(16'096'000, layers), 3u * 4 * 2 * 3);
    EXPECT_EQ(count(0, {}), 1u * 4 * 2 * 3); // without layers the gradient is one piece
}

TEST(BytePsScheme, RejectsLayersAndPiecesThatDoNotFit)
{
    const auto build = [](const Parameters& parameters) {
        return [=] { BuildPlan("byteps", MakeRequest("byteps", 4, 1000, parameters)); };
    };
    EXPECT_THAT(build({{"layers", std::vector<double>{400, 500}}}),
                ThrowsMessage<SchemeError>(HasSubstr("layers are 900 bytes in all")));
    EXPECT_THAT(build({{"partitionBytes", int64_t{100}}, {"pipelineChunks", int64_t{2}}}),
                ThrowsMessage<SchemeError>(HasSubstr("pipelineChunks is 2, but partitionBytes")));
}

TEST(ParameterHubScheme, SpreadsChunksOverTheNicsOfItsBoxes)
{
    // 2 boxes of 10 NICs, 20 chunks: each NIC handles 2 of them, K/10, for the 4 workers of its
    // rack, and sums one of the 2 for both racks: 4 K/10 answers, K/20 to the other box, K/20 back.
    const auto statistics = ComputeStatistics(
        "parameter-hub",
        MakeRequest("parameter-hub",
                    8,
                    2000,
                    {{"boxes", int64_t{2}}, {"nics", int64_t{10}}, {"chunkBytes", int64_t{100}}},
                    MakeLevels("rack", 2, 4)));
    ASSERT_EQ(statistics.sentBytes.size(), 28u);
    for (uint32_t rank = 0; rank < 28; ++rank)
    {
        EXPECT_EQ(statistics.sentBytes[rank], rank < 8 ? 2000u : 800u + 200u);
        EXPECT_EQ(statistics.receivedBytes[rank], rank < 8 ? 2000u : 800u + 200u);
    }
    EXPECT_EQ(statistics.GetLongestChain(), 4u);
}

TEST(GeoHipsScheme, MixedSyncSplitsIntoPartiesThatExchangeAlone)
{
    // 7 workers in parties of 3 and 4, their servers 7 and 8, the global server 9.
    auto request = MakeRequest("geo-hips",
                               7,
                               1200,
                               {{"sync", std::string("mixed")}},
                               {MakeLevel("rack", {3, 4}, 1.0)});
    const auto& scheme = *FindScheme("geo-hips");
    const auto parts = scheme.split(request);
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_THAT(parts[0].ranks, testing::ElementsAre(0, 1, 2, 7, 9));
    EXPECT_THAT(parts[1].ranks, testing::ElementsAre(3, 4, 5, 6, 8, 9));
    EXPECT_EQ(parts[1].workers, 4u);
    // Pushes of 3 or 4 workers and of a server, and back.
    auto part = MakeRequest("geo-hips", 4, 1200);
    part.parameters = parts[1].parameters;
    EXPECT_EQ(scheme.countServers(part.parameters), 2u);
    EXPECT_THAT(BuildPlan("geo-hips", part), IsAllReduce());
    EXPECT_EQ(ComputeStatistics("geo-hips", part).transferCount, 10u);
    request.parameters.Set("sync", std::string("full"));
    EXPECT_TRUE(scheme.split(request).empty());
}

TEST(ParameterHubScheme, CutsTheGradientInChunksOfTheGivenSize)
{
    // 100,000 B in chunks of at most 32 KiB: 4, for 6 workers 24 pushes, and 24 answers.
    const auto request = MakeRequest("parameter-hub", 6, 100'000, {{"boxes", int64_t{1}}});
    EXPECT_EQ(ComputeStatistics("parameter-hub", request).transferCount, 48u);
}

TEST(NvlsScheme, IsAnAllReduceOnAnyServers)
{
    for (const uint32_t servers : {1u, 2u, 3u})
    {
        for (const uint32_t size : {1u, 2u, 5u})
        {
            const auto request = MakeRequest("nvls",
                                             servers * size,
                                             SHARD_BYTES * servers * size,
                                             {{"pipelineChunks", int64_t{3}}},
                                             MakeLevels("server", servers, size));
            EXPECT_THAT(FindScheme("nvls")->build(request), DoesWhatItIsFor());
        }
    }
    const auto uneven = MakeRequest("nvls",
                                    9,
                                    uint64_t{9} * 5 * SHARD_BYTES,
                                    {},
                                    {MakeLevel("server", {5, 3, 1}, 1.0)});
    EXPECT_THAT(FindScheme("nvls")->build(uneven), DoesWhatItIsFor());
}

TEST(NvlsScheme, GainsTwiceNLessOneOverNMoreOneOnARing)
{
    // Every accelerator sends and receives (1 + 1/n) K, in a ring 2 (n - 1)/n K: the ratio is
    // 2 (n - 1)/(n + 1).
    std::mt19937 random(24);
    for (int run = 0; run < 20; ++run)
    {
        const uint32_t n = 2 + random() % 71;
        const auto pieces = static_cast<int64_t>(1 + random() % 5);
        const uint64_t gradient = SHARD_BYTES * n * pieces * (1 + random() % 1000);
        const auto nvls = ComputeStatistics("nvls",
                                            MakeRequest("nvls",
                                                        n,
                                                        gradient,
                                                        {{"pipelineChunks", pieces}},
                                                        MakeLevels("server", 1, n)));
        EXPECT_THAT(nvls.sentBytes, Each(gradient + gradient / n));
        EXPECT_THAT(nvls.receivedBytes, Each(gradient + gradient / n));
        EXPECT_EQ(nvls.totalBytes, (n + 1) * gradient);
        EXPECT_EQ(nvls.GetLongestChain(), 2u);
        const auto ring = ComputeStatistics("ring", MakeRequest("ring", n, gradient));
        EXPECT_EQ(ring.GetPeakSentBytes() * (n + 1), nvls.GetPeakSentBytes() * 2 * (n - 1));
    }
}

TEST(NvlsScheme, SendsASliceOfEachServerAroundARing)
{
    // s servers: the owners of a slice, K/n, send 2 (s - 1)/s of it between servers.
    constexpr uint32_t S = 3;
    constexpr uint32_t N = 4;
    const uint64_t gradient = SHARD_BYTES * S * N;
    const auto statistics = ComputeStatistics("nvls",
                                              MakeRequest("nvls",
                                                          S * N,
                                                          gradient,
                                                          {{"pipelineChunks", int64_t{1}}},
                                                          MakeLevels("server", S, N)));
    EXPECT_EQ(statistics.crossings.at(0).bytes, 2 * (S - 1) * gradient);
    EXPECT_THAT(statistics.sentBytes,
                Each(gradient + gradient / N + 2 * (S - 1) * gradient / S / N));
    EXPECT_EQ(statistics.GetLongestChain(), 2 + 2 * (S - 1));
}

} // namespace

} // namespace ns3::gradsync
