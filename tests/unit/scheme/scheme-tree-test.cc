// SPDX-License-Identifier: GPL-2.0-only
// The schemes whose transfers form trees over all ranks.
#include "unit/scheme/scheme-test-support.h"

#include <set>

namespace ns3::gradsync
{

namespace
{

/// Has whole elements in each of 2 trees * 16 pieces.
constexpr uint64_t GRADIENT = 7680;

TEST(KNomialScheme, IsAnAllReduceOfAnyNumberOfWorkers)
{
    ExpectAllReduceOfAnyCount("k-nomial", {});
    ExpectAllReduceOfAnyCount("k-nomial", {{"radix", int64_t{3}}, {"pipelineChunks", int64_t{4}}});
    ExpectAllReduceOfAnyCount("k-nomial", {{"radix", int64_t{64}}});
}

TEST(KNomialScheme, MovesTheGradientOverEachEdgeOfTheTreeTwice)
{
    for (uint32_t w = 1; w <= 33; ++w)
    {
        for (const int64_t radix : {2, 3, 5})
        {
            const auto statistics =
                ComputeStatistics("k-nomial",
                                  MakeRequest("k-nomial", w, GRADIENT, {{"radix", radix}}));
            // A tree of w ranks has w - 1 edges.
            EXPECT_EQ(statistics.totalBytes, uint64_t{2} * (w - 1) * GRADIENT);
        }
    }
}

TEST(KNomialScheme, CrossesAlignedRacksAndChainsAsTheClosedForm)
{
    // radix, levels of the tree, levels inside a rack: w = radix^levels.
    const std::vector<std::array<uint32_t, 3>> cases = {{2, 2, 1},
                                                        {2, 3, 2},
                                                        {2, 5, 3},
                                                        {3, 3, 1},
                                                        {4, 2, 1}};
    for (const auto& [radix, levels, inside] : cases)
    {
        uint32_t w = 1;
        uint32_t rack = 1;
        for (uint32_t i = 0; i < levels; ++i)
        {
            w *= radix;
            rack *= i < inside ? radix : 1;
        }
        const auto statistics =
            ComputeStatistics("k-nomial",
                              MakeRequest("k-nomial",
                                          w,
                                          GRADIENT,
                                          {{"radix", int64_t{radix}}},
                                          {MakeLevel("rack", Repeat(w / rack, rack), 2.0)}));
        SCOPED_TRACE(fmt::format("radix {} w {} rack {}", radix, w, rack));
        EXPECT_EQ(statistics.crossings.at(0).bytes,
                  uint64_t{2} * (w / rack - 1) * GRADIENT);  // 2(r-1)K
        EXPECT_EQ(statistics.GetLongestChain(), 2 * levels); // 2 log_k w
    }
}

TEST(KNomialScheme, ChainsNoLongerThanTheNextPowerOfTheRadix)
{
    for (uint32_t w = 2; w <= 33; ++w)
    {
        uint32_t levels = 0; // ceil(log2 w)
        while ((1u << levels) < w)
        {
            ++levels;
        }
        EXPECT_LE(
            ComputeStatistics("k-nomial", MakeRequest("k-nomial", w, GRADIENT)).GetLongestChain(),
            2 * levels);
    }
}

TEST(DoubleBinaryTreeScheme, IsAnAllReduceOfAnyNumberOfWorkers)
{
    ExpectAllReduceOfAnyCount("double-binary-tree", {});
    ExpectAllReduceOfAnyCount("double-binary-tree", {{"pipelineChunks", int64_t{1}}});
}

TEST(DoubleBinaryTreeScheme, MovesHalfTheGradientOverEachEdgeOfBothTreesTwice)
{
    for (uint32_t w = 1; w <= 33; ++w)
    {
        const auto statistics =
            ComputeStatistics("double-binary-tree", MakeRequest("double-binary-tree", w, GRADIENT));
        EXPECT_EQ(statistics.totalBytes,
                  uint64_t{2} * (w - 1) * GRADIENT); // 2 trees, 2(w-1) K/2 each
        // Up in both trees, K, and down to two children in one, K. This bounds the time by 2 tau.
        EXPECT_LE(statistics.GetPeakSentBytes(), 2 * GRADIENT);
        EXPECT_LE(statistics.GetPeakReceivedBytes(), 2 * GRADIENT);
    }
}

TEST(DoubleBinaryTreeScheme, OverServersIsAnAllReduceOfAnyShape)
{
    for (const int64_t channels : {1, 2, 3, 8})
    {
        const std::vector<std::pair<std::string, ParameterValue>> parameters{
            {"chains", true},
            {"channels", channels},
            {"groupLevel", std::string("rack")},
            {"pipelineChunks", int64_t{2}}};
        for (const uint32_t w : {2U, 3U, 5U, 8U, 13U, 24U})
        {
            for (const auto& level : MakeRackShapes(w, 2.0))
            {
                const auto request =
                    MakeRequest("double-binary-tree", w, GRADIENT, parameters, {level});
                EXPECT_THAT(BuildPlan("double-binary-tree", request), IsAllReduce())
                    << w << ' ' << channels;
            }
        }
    }
}

TEST(DoubleBinaryTreeScheme, OverServersCrossesThemAsATreeOfServersDoes)
{
    // s servers of g: s - 1 edges of each tree leave a server, each carries its share there and
    // back: 2(s-1)K in all, whatever the channels. A chain has g - 1 hops, and the tree of 2^n
    // servers n levels: there and back 2(g - 1 + n).
    for (const uint32_t g : {1U, 2U, 3U, 8U})
    {
        for (uint32_t levels = 1; levels <= 3; ++levels)
        {
            const uint32_t s = 1U << levels;
            const auto statistics =
                ComputeStatistics("double-binary-tree",
                                  MakeRequest("double-binary-tree",
                                              s * g,
                                              GRADIENT,
                                              {{"chains", true},
                                               {"channels", int64_t{g}},
                                               {"groupLevel", std::string("rack")}},
                                              {MakeLevel("rack", Repeat(s, g), 1.0)}));
            EXPECT_EQ(statistics.totalBytes, uint64_t{2} * (s * g - 1) * GRADIENT);
            EXPECT_EQ(statistics.crossings.at(0).bytes, uint64_t{2} * (s - 1) * GRADIENT);
            EXPECT_EQ(statistics.GetLongestChain(), 2 * (g - 1 + levels));
        }
    }
}

TEST(DoubleBinaryTreeScheme, ChannelsHaveEachAnotherHead)
{
    // Four servers of 4 ranks, 4 channels: of channel j only the j-th ranks talk to other servers.
    const auto plan = BuildPlan(
        "double-binary-tree",
        MakeRequest("double-binary-tree",
                    16,
                    GRADIENT,
                    {{"chains", true}, {"channels", int64_t{4}}, {"groupSize", int64_t{4}}}));
    for (const auto& operation : plan.GetOperations())
    {
        if (operation.src / 4 != operation.dst / 4)
        {
            EXPECT_EQ(operation.src % 4, operation.stream / 2);
            EXPECT_EQ(operation.dst % 4, operation.stream / 2);
        }
    }
}

TEST(DoubleBinaryTreeScheme, ChainsAsTheDepthOfTheTreeWhateverThePieces)
{
    for (uint32_t levels = 1; levels <= 5; ++levels)
    {
        // In order: root 0, its child 2^(n-1), ..., leaves at the odd positions: depth n. A rank
        // serves its children at once: n up and n down.
        const auto request = MakeRequest("double-binary-tree", 1u << levels, GRADIENT);
        EXPECT_EQ(ComputeStatistics("double-binary-tree", request).GetLongestChain(), 2 * levels);
    }
}

TEST(DoubleBinaryTreeScheme, HasNoRankButTheFirstThatIsInnerInBothTrees)
{
    for (uint32_t w = 2; w <= 33; ++w)
    {
        const auto plan =
            BuildPlan("double-binary-tree", MakeRequest("double-binary-tree", w, GRADIENT));
        std::vector<std::set<uint32_t>> parents(2); // [tree]
        for (const auto& operation : plan.GetOperations())
        {
            if (operation.kind == OperationKind::TransferReduce)
            {
                parents.at(operation.stream).insert(operation.dst);
            }
        }
        for (const auto rank : parents[0])
        {
            // The shift by one of an odd number leaves position w - 1, which is even, to rank 0.
            EXPECT_TRUE(!parents[1].contains(rank) || (w % 2 == 1 && rank == 0))
                << "w " << w << " rank " << rank;
        }
    }
}

} // namespace

} // namespace ns3::gradsync
