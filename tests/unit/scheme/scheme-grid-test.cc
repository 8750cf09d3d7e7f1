// SPDX-License-Identifier: GPL-2.0-only
// The schemes that exchange in one dimension of a grid after the other.
#include "unit/scheme/scheme-test-support.h"

#include <algorithm>
#include <bit>

namespace ns3::gradsync
{

namespace
{

using testing::Each;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string RHD = "halving-doubling";

TEST(HalvingDoublingScheme, IsAnAllReduceOfAnyNumberOfWorkers)
{
    ExpectAllReduceOfAnyCount(RHD, {{"pipelineChunks", int64_t{3}}});
    ExpectAllReduceOfAnyCount(RHD, {{"order", std::string("far-first")}});
}

TEST(HalvingDoublingScheme, MovesAndChainsAsTheClosedForms)
{
    for (const auto* order : {"near-first", "far-first"})
    {
        for (uint32_t w = 2; w <= 33; ++w)
        {
            const auto power = std::bit_floor(w);
            const uint64_t gradient = SHARD_BYTES * power;
            const auto statistics =
                ComputeStatistics(RHD,
                                  MakeRequest(RHD, w, gradient, {{"order", std::string(order)}}));
            // 2^n ranks exchange 2(2^n - 1)K, the w - 2^n folded ones give and get K.
            EXPECT_EQ(statistics.totalBytes, uint64_t{2} * (w - 1) * gradient);
            const auto steps = 2 * static_cast<uint32_t>(std::countr_zero(power));
            EXPECT_EQ(statistics.GetLongestChain(), w == power ? steps : steps + 2);
            if (w == power)
            {
                EXPECT_THAT(statistics.sentBytes, Each(2 * SHARD_BYTES * (w - 1))); // 2(w-1)K/w
                EXPECT_THAT(statistics.receivedBytes, Each(2 * SHARD_BYTES * (w - 1)));
            }
        }
    }
}

TEST(HalvingDoublingScheme, CrossesRacksAsItsOrderSays)
{
    for (const uint32_t w : {4u, 8u, 16u, 32u})
    {
        for (uint32_t size = 1; size < w; size *= 2)
        {
            const uint64_t gradient = SHARD_BYTES * w;
            auto request =
                MakeRequest(RHD, w, gradient, {}, {MakeLevel("rack", Repeat(w / size, size), 2.0)});
            EXPECT_EQ(ComputeStatistics(RHD, request).crossings.at(0).bytes,
                      uint64_t{2} * (w / size - 1) * gradient); // 2(r-1)K
            request.parameters.Set("order", std::string("far-first"));
            EXPECT_EQ(ComputeStatistics(RHD, request).crossings.at(0).bytes,
                      uint64_t{2} * (w - size) * gradient); // 2(w-w_r)K
        }
    }
}

TEST(ButterflyScheme, IsAnAllReduceOfAnyNumberOfWorkers)
{
    ExpectAllReduceOfAnyCount("butterfly", {{"pipelineChunks", int64_t{3}}});
}

TEST(ButterflyScheme, MovesCrossesAndChainsAsTheClosedForms)
{
    for (uint32_t w = 1; w <= 33; ++w)
    {
        constexpr uint64_t gradient = SHARD_BYTES;
        const auto power = std::bit_floor(w);
        const auto steps = static_cast<uint32_t>(std::countr_zero(power));
        const auto statistics =
            ComputeStatistics("butterfly", MakeRequest("butterfly", w, gradient));
        // 2^n ranks send K in each of n steps, the w - 2^n folded ones give and get K.
        EXPECT_EQ(statistics.totalBytes,
                  (uint64_t{power} * steps + uint64_t{2} * (w - power)) * gradient);
        EXPECT_EQ(statistics.localCount, uint64_t{power} * steps);
        EXPECT_EQ(statistics.GetLongestChain(), w == power ? steps : steps + 2);
    }
    for (uint32_t size = 1; size <= 16; size *= 2)
    {
        const uint32_t racks = 16 / size;
        const auto request = MakeRequest("butterfly",
                                         16,
                                         SHARD_BYTES,
                                         {},
                                         {MakeLevel("rack", Repeat(racks, size), 2.0)});
        // Log2 r of the steps leave the racks: wK log2 r.
        EXPECT_EQ(ComputeStatistics("butterfly", request).crossings.at(0).bytes,
                  16 * SHARD_BYTES * static_cast<uint64_t>(std::countr_zero(racks)));
    }
}

TEST(Torus2dScheme, IsAnAllReduceOfAnyNumberOfWorkers)
{
    ExpectAllReduceOfAnyCount("torus-2d", {{"pipelineChunks", int64_t{2}}});
}

TEST(Torus2dScheme, MovesCrossesAndChainsAsTheClosedForms)
{
    for (const uint32_t width : {1u, 2u, 3u, 4u})
    {
        for (const uint32_t height : {1u, 2u, 3u, 5u})
        {
            const uint32_t w = width * height;
            const auto statistics =
                ComputeStatistics("torus-2d",
                                  MakeRequest("torus-2d",
                                              w,
                                              SHARD_BYTES * w,
                                              {{"width", int64_t{width}}},
                                              {MakeLevel("rack", Repeat(height, width), 2.0)}));
            EXPECT_THAT(statistics.sentBytes, Each(2 * SHARD_BYTES * (w - 1))); // 2(w-1)K/w
            // X columns all-reduce K/X among Y ranks, across the rows: 2(Y-1)K.
            EXPECT_EQ(statistics.crossings.at(0).bytes,
                      uint64_t{2} * (height - 1) * SHARD_BYTES * w);
            EXPECT_EQ(statistics.GetLongestChain(), 2 * (width - 1) + 2 * (height - 1));
        }
    }
}

TEST(Torus2dScheme, TakesTheMostSquareGrid)
{
    // 12 ranks as 4 x 3, so 2 * 3 + 2 * 2 steps; 13 as one row; 4 x 3 by hand as 2 x 6.
    EXPECT_EQ(ComputeStatistics("torus-2d", MakeRequest("torus-2d", 12, 1200)).GetLongestChain(),
              10u);
    EXPECT_EQ(ComputeStatistics("torus-2d", MakeRequest("torus-2d", 13, 1300)).GetLongestChain(),
              24u);
    const auto slim = MakeRequest("torus-2d", 12, 1200, {{"width", int64_t{2}}});
    EXPECT_EQ(ComputeStatistics("torus-2d", slim).GetLongestChain(), 12u);
}

TEST(Torus2dScheme, RejectsAWidthThatLeavesARowUnfilled)
{
    for (const auto* scheme : {"torus-2d", "mesh-2d"})
    {
        const auto request = MakeRequest(scheme, 12, 1200, {{"width", int64_t{5}}});
        EXPECT_THAT([&] { BuildPlan(scheme, request); },
                    ThrowsMessage<SchemeError>(HasSubstr("width is 5, but must divide the 12")));
    }
}

TEST(Mesh2dScheme, IsAnAllReduceOfAnyNumberOfWorkers)
{
    ExpectAllReduceOfAnyCount("mesh-2d", {});
    ExpectAllReduceOfAnyCount(
        "mesh-2d",
        {{"stages", std::string("reduce-scatter")}, {"pipelineChunks", int64_t{2}}});
}

TEST(Mesh2dScheme, MovesAndChainsAsTheClosedForms)
{
    for (const uint32_t width : {1u, 2u, 3u, 4u})
    {
        for (const uint32_t height : {1u, 2u, 3u})
        {
            const uint32_t w = width * height;
            const uint64_t gradient = 2 * SHARD_BYTES * w;
            auto request = MakeRequest("mesh-2d", w, gradient, {{"width", int64_t{width}}});
            auto statistics = ComputeStatistics("mesh-2d", request);
            // Each half is all-reduced along a row and along a column: 2(X-1)/X K + 2(Y-1)/Y K.
            EXPECT_THAT(
                statistics.sentBytes,
                Each(2 * gradient * (width - 1) / width + 2 * gradient * (height - 1) / height));
            EXPECT_EQ(statistics.GetLongestChain(), 2 * (width - 1) + 2 * (height - 1));
            request.parameters.Set("stages", std::string("reduce-scatter"));
            statistics = ComputeStatistics("mesh-2d", request);
            EXPECT_THAT(statistics.sentBytes, Each(2 * gradient * (w - 1) / w));
            EXPECT_EQ(statistics.GetLongestChain(), 2 * (width - 1) + 2 * (height - 1));
        }
    }
}

TEST(BlueConnectScheme, IsAnAllReduceOnEqualGroupsOfAnyLevels)
{
    for (const uint32_t inner : {1u, 2u, 3u})
    {
        for (const uint32_t middle : {1u, 2u, 5u})
        {
            for (const uint32_t outer : {1u, 2u, 3u})
            {
                const uint32_t w = inner * middle * outer;
                const std::vector<GroupLevel> levels = {
                    MakeLevel("server", Repeat(w / inner, inner), 1.0),
                    MakeLevel("rack", Repeat(outer, inner * middle), 2.0)};
                for (const uint64_t gradient : {SHARD_BYTES * w, uint64_t{22}})
                {
                    const auto request = MakeRequest("blueconnect",
                                                     w,
                                                     gradient,
                                                     {{"pipelineChunks", int64_t{2}}},
                                                     levels);
                    EXPECT_THAT(BuildPlan("blueconnect", request), IsAllReduce());
                }
                const auto statistics =
                    ComputeStatistics("blueconnect",
                                      MakeRequest("blueconnect", w, SHARD_BYTES * w, {}, levels));
                EXPECT_THAT(statistics.sentBytes, Each(2 * SHARD_BYTES * (w - 1)));
                // 2(R_j - 1)K at every level; chain 2 sum (p_i - 1).
                EXPECT_EQ(statistics.crossings.at(0).bytes,
                          uint64_t{2} * (w / inner - 1) * SHARD_BYTES * w);
                EXPECT_EQ(statistics.crossings.at(1).bytes,
                          uint64_t{2} * (outer - 1) * SHARD_BYTES * w);
                EXPECT_EQ(statistics.GetLongestChain(), 2 * (inner + middle + outer - 3));
            }
        }
    }
}

TEST(BlueConnectScheme, FindsItsDimensionsInInterleavedRacks)
{
    // Rank i in rack i mod 4: the racks are still rings of their own, and 2(4-1)K cross them.
    const auto request =
        MakeRequest("blueconnect", 12, SHARD_BYTES * 12, {}, {MakeInterleavedLevel(12, 4, 2.0)});
    EXPECT_THAT(BuildPlan("blueconnect", request), IsAllReduce());
    EXPECT_EQ(ComputeStatistics("blueconnect", request).crossings.at(0).bytes,
              6 * SHARD_BYTES * 12);
}

TEST(BlueConnectScheme, TakesAnyNumberOfDimensions)
{
    for (const auto& sizes : {std::vector<double>{30}, {5, 6}, {2, 3, 5}, {2, 3, 5, 1}, {1, 30}})
    {
        const auto request =
            MakeRequest("blueconnect", 30, SHARD_BYTES * 30, {{"dimensions", sizes}});
        EXPECT_THAT(BuildPlan("blueconnect", request), IsAllReduce());
        uint32_t chain = 0;
        for (const auto size : sizes)
        {
            chain += 2 * (static_cast<uint32_t>(size) - 1);
        }
        EXPECT_EQ(ComputeStatistics("blueconnect", request).GetLongestChain(), chain);
    }
}

TEST(BlueConnectScheme, RejectsWhatIsNoGrid)
{
    const auto build = [](const Parameters& parameters, const std::vector<GroupLevel>& levels) {
        return [=] {
            BuildPlan("blueconnect", MakeRequest("blueconnect", 6, 600, parameters, levels));
        };
    };
    EXPECT_THAT(build({}, {MakeLevel("rack", {4, 2}, 2.0)}),
                ThrowsMessage<SchemeError>(HasSubstr("level \"rack\" differ in size")));
    EXPECT_THAT(build({{"dimensions", std::vector<double>{2, 2}}}, {}),
                ThrowsMessage<SchemeError>(HasSubstr("2 x 2, but their product must be the 6")));
    EXPECT_THAT(build({{"dimensions", std::vector<double>{1.5, 4}}}, {}),
                ThrowsMessage<SchemeError>(HasSubstr("dimensions has 1.5")));
    EXPECT_THAT(build({{"dimensions", std::vector<double>{0, 6}}}, {}),
                ThrowsMessage<SchemeError>(HasSubstr("dimensions has 0")));
}

TEST(BlueConnectScheme, RejectsGroupsThatDoNotNest)
{
    // Pairs of neighbours in two "pods" that cut through them: {0,3,4} and {1,2,5}.
    const GroupLevel pods{"pod", {0, 1, 1, 0, 0, 1}, 2, 2.0};
    const auto request =
        MakeRequest("blueconnect", 6, 600, {}, {MakeLevel("rack", {2, 2, 2}, 2.0), pods});
    EXPECT_THAT([&] { BuildPlan("blueconnect", request); },
                ThrowsMessage<SchemeError>(HasSubstr("cut through those of level \"rack\"")));
}

TEST(BcubeHipsScheme, IsAnAllReduceOnEveryPower)
{
    for (uint32_t ports = 1; ports <= 5; ++ports)
    {
        for (uint32_t n = 1; n <= 33; ++n)
        {
            uint32_t w = 1;
            for (uint32_t i = 0; i < ports; ++i)
            {
                w *= n;
            }
            if (w > 33)
            {
                break;
            }
            for (const auto* style : {"ps", "ring"})
            {
                for (const bool allPorts : {false, true})
                {
                    const auto request = MakeRequest("bcube-hips",
                                                     w,
                                                     SHARD_BYTES * w * 6,
                                                     {{"ports", int64_t{ports}},
                                                      {"style", std::string(style)},
                                                      {"allPorts", allPorts}});
                    EXPECT_THAT(BuildPlan("bcube-hips", request), IsAllReduce());
                    const auto statistics = ComputeStatistics("bcube-hips", request);
                    // One step per stage, or n - 1, and back.
                    EXPECT_EQ(statistics.GetLongestChain(),
                              n == 1 ? 0 : 2 * ports * (std::string(style) == "ps" ? 1 : n - 1));
                    if (ports <= 3)
                    {
                        EXPECT_THAT(statistics.sentBytes, Each(2 * SHARD_BYTES * 6 * (w - 1)));
                    }
                }
            }
        }
    }
}

TEST(BcubeHipsScheme, CrossesTheGroupsOfItsFirstStageAsTheClosedForm)
{
    // One stream, n = 3, h = 3: 9 groups of 3, so 2(9 - 1)K.
    const auto request = MakeRequest("bcube-hips",
                                     27,
                                     27 * SHARD_BYTES,
                                     {{"ports", int64_t{3}}, {"allPorts", false}},
                                     {MakeLevel("rack", Repeat(9, 3), 1.0)});
    EXPECT_EQ(ComputeStatistics("bcube-hips", request).crossings.at(0).bytes,
              uint64_t{16} * 27 * SHARD_BYTES);
}

TEST(BcubeHipsScheme, RejectsWorkersThatFillNoBcube)
{
    for (const uint32_t w : {2u, 3u, 5u, 8u, 27u})
    {
        EXPECT_THAT([&] { BuildPlan("bcube-hips", MakeRequest("bcube-hips", w, 600)); },
                    ThrowsMessage<SchemeError>(HasSubstr("workers must be n^2")));
    }
}

TEST(MultiRingScheme, IsAnAllReduceOfAnyNumberOfWorkers)
{
    ExpectAllReduceOfAnyCount("multi-ring", {});
    ExpectAllReduceOfAnyCount("multi-ring",
                              {{"rings", int64_t{5}}, {"pipelineChunks", int64_t{2}}});
}

TEST(MultiRingScheme, MovesAndChainsAsOneRing)
{
    for (uint32_t w = 2; w <= 33; ++w)
    {
        const auto statistics = ComputeStatistics(
            "multi-ring",
            MakeRequest("multi-ring", w, 3 * SHARD_BYTES * w, {{"rings", int64_t{3}}}));
        EXPECT_THAT(statistics.sentBytes, Each(6 * SHARD_BYTES * (w - 1)));
        EXPECT_EQ(statistics.GetLongestChain(), 2 * (w - 1));
    }
}

TEST(MultiRingScheme, GoesAroundWithTheStridesOfTheRings)
{
    const auto plan =
        BuildPlan("multi-ring",
                  MakeRequest("multi-ring",
                              8,
                              4800,
                              {{"rings", int64_t{3}}, {"strides", std::vector<double>{1, 7, 3}}}));
    const std::vector<uint32_t> strides = {1, 7, 3};
    for (const auto& operation : plan.GetOperations())
    {
        EXPECT_EQ(operation.dst, (operation.src + strides.at(operation.stream)) % 8);
    }
}

TEST(MultiRingScheme, EntersAndLeavesServersByTheRailOfTheRing)
{
    // 4 servers of 3. Ring 1 passes the first as 1, 2, 0 and the second as 0, 2, 1 (from 3): out of
    // rank 0 into rank 3, the same accelerator; out of 4 into 7, and so on.
    const auto request = MakeRequest("multi-ring",
                                     12,
                                     36 * SHARD_BYTES,
                                     {{"order", std::string("rails")}, {"rings", int64_t{3}}},
                                     {MakeLevel("server", Repeat(4, 3), 1.0)});
    const auto plan = BuildPlan("multi-ring", request);
    EXPECT_THAT(plan, IsAllReduce());
    std::vector<uint32_t> next(12);
    for (const auto& operation : plan.GetOperations())
    {
        if (operation.src / 3 != operation.dst / 3)
        {
            EXPECT_EQ(operation.src % 3, operation.dst % 3); // it stays on its rail
        }
        if (operation.stream == 1)
        {
            next[operation.src] = operation.dst;
        }
    }
    EXPECT_THAT(next, testing::ElementsAre(3, 2, 0, 5, 7, 4, 9, 8, 6, 11, 1, 10));
    EXPECT_THAT(ComputePlanStatistics(plan).sentBytes,
                Each(uint64_t{2} * 3 * SHARD_BYTES * 11)); // 2(w-1)K/w
}

TEST(TorusHipsScheme, IsAnAllReduceOfAnyNumberOfWorkers)
{
    ExpectAllReduceOfAnyCount("torus-hips", {{"pipelineChunks", int64_t{2}}});
}

TEST(TorusHipsScheme, SendsToNeighboursOnlyAsTheClosedForms)
{
    // 3 x 4 x 2: x = rank mod 3, y = rank / 3 mod 4, z = rank / 12.
    const auto request = MakeRequest("torus-hips",
                                     24,
                                     uint64_t{6} * 24 * SHARD_BYTES,
                                     {{"dimensions", std::vector<double>{3, 4, 2}}});
    const auto plan = BuildPlan("torus-hips", request);
    for (const auto& operation : plan.GetOperations())
    {
        const auto distance = [&operation](uint32_t stride, uint32_t size) {
            const uint32_t step =
                (operation.dst / stride % size + size - operation.src / stride % size) % size;
            return std::min(step, size - step);
        };
        const uint32_t hops = distance(1, 3) + distance(3, 4) + distance(12, 2);
        EXPECT_EQ(hops, operation.IsTransfer() ? 1u : 0u);
    }
    const auto statistics = ComputePlanStatistics(plan);
    EXPECT_THAT(statistics.sentBytes, Each(uint64_t{2} * 6 * SHARD_BYTES * 23)); // 2(w-1)K/w
    EXPECT_EQ(statistics.GetLongestChain(), 2u * (2 + 3 + 1)); // rings, there and back
}

TEST(TorusHipsScheme, RejectsDimensionsThatAreNoTorus)
{
    for (const auto& dimensions : {std::vector<double>{3, 4}, {2.5, 4}, {0, 12}, {16}})
    {
        const auto request = MakeRequest("torus-hips", 10, 600, {{"dimensions", dimensions}});
        EXPECT_THAT([&] { BuildPlan("torus-hips", request); },
                    ThrowsMessage<SchemeError>(HasSubstr("whose product is the 10 workers")));
    }
}

TEST(MultiRingScheme, RejectsStridesThatMissRanks)
{
    const auto build = [](int64_t rings, const std::vector<double>& strides) {
        return [=] {
            BuildPlan("multi-ring",
                      MakeRequest("multi-ring", 6, 600, {{"rings", rings}, {"strides", strides}}));
        };
    };
    for (const double stride : {2.0, 3.0, 0.5, 0.0, 6.0})
    {
        EXPECT_THAT(build(1, {stride}),
                    ThrowsMessage<SchemeError>(HasSubstr("visits all 6 workers")));
    }
    EXPECT_THAT(build(2, {1}),
                ThrowsMessage<SchemeError>(HasSubstr("rings is 2, but strides has 1")));
}

} // namespace

} // namespace ns3::gradsync
