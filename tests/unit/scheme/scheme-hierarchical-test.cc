// SPDX-License-Identifier: GPL-2.0-only
#include "unit/scheme/scheme-test-support.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace ns3::gradsync
{

namespace
{

using testing::HasSubstr;
using testing::ThrowsMessage;

const std::vector<std::string> BROADCASTS = {"star", "scatter-allgather", "chain"};

SchemeRequest
MakeHierarchicalRequest(uint32_t workers,
                        uint64_t gradientBytes,
                        std::vector<GroupLevel> levels,
                        const std::string& broadcast,
                        bool barrier,
                        int64_t pipelineChunks = 1)
{
    return MakeRequest(
        "hierarchical",
        workers,
        gradientBytes,
        {{"broadcast", broadcast}, {"barrier", barrier}, {"pipelineChunks", pipelineChunks}},
        std::move(levels));
}

TEST(HierarchicalScheme, IsAnAllReduceOnAnyRacks)
{
    for (uint32_t w = 2; w <= 33; ++w)
    {
        for (const auto& level : MakeRackShapes(w, 2.0))
        {
            for (const auto& broadcast : BROADCASTS)
            {
                const bool barrier = w % 2 == 0;
                const int64_t m = w % 3 + 1;
                SCOPED_TRACE(fmt::format("w {} groups {} {} barrier {} m {}",
                                         w,
                                         fmt::join(level.groupOf, ","),
                                         broadcast,
                                         barrier,
                                         m));
                EXPECT_THAT(
                    BuildPlan("hierarchical",
                              MakeHierarchicalRequest(w, 10007, {level}, broadcast, barrier, m)),
                    IsAllReduce());
            }
        }
    }
}

TEST(HierarchicalScheme, IsAnAllReduceWithFewerElementsThanPieces)
{
    for (const auto& broadcast : BROADCASTS)
    {
        for (const bool barrier : {false, true})
        {
            const auto request = MakeHierarchicalRequest(9,
                                                         22,
                                                         {MakeLevel("rack", {4, 3, 2}, 1.0)},
                                                         broadcast,
                                                         barrier);
            EXPECT_THAT(BuildPlan("hierarchical", request), IsAllReduce());
        }
    }
}

TEST(HierarchicalScheme, MovesAsTheClosedFormOnEqualGroups)
{
    for (const uint32_t groups : {2u, 3u, 4u})
    {
        for (const uint32_t size : {2u, 3u, 4u})
        {
            for (const auto& broadcast : BROADCASTS)
            {
                const uint64_t gradient =
                    2880; // 4 * 3 * 4 * 60: divisible by the group counts and sizes
                const auto statistics = ComputeStatistics(
                    "hierarchical",
                    MakeHierarchicalRequest(groups * size,
                                            gradient,
                                            {MakeLevel("rack", Repeat(groups, size), 2.0)},
                                            broadcast,
                                            true));
                // Rings move 2(n-1)K over n members, a broadcast (g-1)K: D[3(g-1)]K + 2(D-1)K. Only
                // the ring of the roots crosses racks.
                EXPECT_EQ(statistics.totalBytes,
                          gradient * (3 * groups * (size - 1) + 2 * (groups - 1)));
                EXPECT_EQ(statistics.crossings.at(0).bytes, 2 * gradient * (groups - 1));
                // A rank that is no root sends 2(g-1)/g K in its ring, and in the broadcast no more
                // than K; the last of a chain, or of a star, sends nothing.
                EXPECT_GE(statistics.sentBytes.back(), 2 * gradient * (size - 1) / size);
                EXPECT_LE(statistics.sentBytes.back(), 2 * gradient * (size - 1) / size + gradient);
            }
        }
    }
}

TEST(HierarchicalScheme, MovesAsTheClosedFormOnUnevenGroups)
{
    // Groups of 5, 3 and 1: 3(4 + 2 + 0)K + 2(3 - 1)K.
    for (const auto& broadcast : BROADCASTS)
    {
        const auto statistics = ComputeStatistics(
            "hierarchical",
            MakeHierarchicalRequest(9, 7200, {MakeLevel("rack", {5, 3, 1}, 2.0)}, broadcast, true));
        EXPECT_EQ(statistics.totalBytes, (3u * 6 + 4) * 7200);
        EXPECT_EQ(statistics.crossings.at(0).bytes, 4u * 7200);
    }
}

TEST(HierarchicalScheme, ChainsAsTheClosedForm)
{
    const std::vector<GroupLevel> levels = {MakeLevel("rack", {4, 4, 4}, 2.0)};
    // Two rings of 4 and 3 give 2*3 + 2*2 transfers. The broadcast adds 1 (star), 1 + 3 (scatter,
    // then around a ring of 4) or 3 (along a chain of 4).
    const std::vector<uint32_t> ends = {1, 4, 3};
    for (size_t form = 0; form < 3; ++form)
    {
        const auto request = MakeHierarchicalRequest(12, 14400, levels, BROADCASTS[form], true);
        EXPECT_EQ(ComputeStatistics("hierarchical", request).GetLongestChain(), 10 + ends[form]);
    }
}

TEST(HierarchicalScheme, LoadsTheRootAsTheFormulaSays)
{
    // D = 2, g = 4: the root is the bottleneck. It sends 2*3/4 K + 2*1/2 K, then 3K (star), 2*3/4 K
    // (scatter + all-gather) or K (chain): 5.5, 4 and 3.5 K, the oracles of reference section 6.
    const std::vector<uint64_t> quarters = {22, 16, 14};
    for (size_t form = 0; form < 3; ++form)
    {
        const auto request = MakeHierarchicalRequest(8,
                                                     6400,
                                                     {MakeLevel("rack", {4, 4}, 2.0)},
                                                     BROADCASTS[form],
                                                     true);
        const auto statistics = ComputeStatistics("hierarchical", request);
        EXPECT_EQ(statistics.sentBytes[0], quarters[form] * 6400 / 4);
        EXPECT_EQ(statistics.GetPeakSentBytes(), statistics.sentBytes[0]);
    }
}

SchemeRequest
MakeNvlsRequest(uint32_t workers, uint64_t gradient, GroupLevel level, int64_t pieces, bool barrier)
{
    return MakeRequest(
        "hierarchical",
        workers,
        gradient,
        {{"inside", std::string("nvls")}, {"broadcastChunks", pieces}, {"barrier", barrier}},
        {std::move(level)});
}

TEST(HierarchicalScheme, AggregatesInNvSwitchesOfAnyGroups)
{
    std::mt19937 dice(24);
    for (int i = 0; i < 60; ++i)
    {
        std::vector<uint32_t> sizes(1 + dice() % 4);
        std::ranges::generate(sizes, [&dice] { return 1 + static_cast<uint32_t>(dice() % 5); });
        const auto workers = std::accumulate(sizes.begin(), sizes.end(), 0U);
        const uint64_t gradient = 4 * (1 + dice() % 5'000);
        const auto request = MakeNvlsRequest(workers,
                                             gradient,
                                             MakeLevel("server", sizes, 1.0),
                                             static_cast<int64_t>(1 + dice() % 8),
                                             dice() % 2 == 0);
        SCOPED_TRACE(fmt::format("{} {}", fmt::join(sizes, ","), gradient));
        if (workers < 2)
        {
            continue;
        }
        EXPECT_THAT(BuildPlan("hierarchical", request), IsAllReduce());
        // A group whose size is 1 on every side of it is no level: then all are one group.
        const bool isLevel = sizes.size() < workers;
        const auto groups = isLevel ? sizes : std::vector<uint32_t>{workers};
        // Each member of a group gives K to its reduction, and the root K to the multicast; between
        // the roots a ring: 2 (D - 1) K.
        uint64_t expected = 2 * gradient * (groups.size() - 1);
        for (const auto size : groups)
        {
            expected += size > 1 ? (size + 1) * gradient : 0;
        }
        EXPECT_EQ(ComputeStatistics("hierarchical", request).totalBytes, expected);
    }
}

TEST(HierarchicalScheme, RefusesABroadcastBesideTheSwitch)
{
    auto request = MakeNvlsRequest(4, 400, MakeLevel("server", {2, 2}, 1.0), 1, true);
    request.parameters.Set("broadcast", std::string("star"));
    EXPECT_THAT([&] { BuildPlan("hierarchical", request); },
                ThrowsMessage<SchemeError>(HasSubstr("inside is nvls, and the switch multicasts")));
}

TEST(HierarchicalScheme, TakesTheInnermostLevelThatGroupsAnything)
{
    const std::vector<GroupLevel> levels = {MakeLevel("server", Repeat(12, 1), 1.0),
                                            MakeLevel("rack", Repeat(4, 3), 1.0),
                                            MakeLevel("pod", Repeat(2, 6), 1.0)};
    auto request = MakeHierarchicalRequest(12, 14400, levels, "star", true);
    // 2(D - 1)K between the groups: D is 4 by racks, 2 by pods, 3 by groups of 5.
    EXPECT_EQ(ComputeStatistics("hierarchical", request).crossings.at(1).bytes, 2u * 3 * 14400);
    request.parameters.Set("groupLevel", std::string("pod"));
    EXPECT_EQ(ComputeStatistics("hierarchical", request).crossings.at(2).bytes, 2u * 14400);
    request.parameters.Set("groupLevel", std::string());
    request.parameters.Set("groupSize", int64_t{5});
    const WorkerGroups fives{{MakeLevel("five", {5, 5, 2}, 1.0)}};
    EXPECT_EQ(
        ComputePlanStatistics(BuildPlan("hierarchical", request), fives).crossings.at(0).bytes,
        2u * 2 * 14400);
}

TEST(HierarchicalScheme, IsARingWhenThereIsOneGroup)
{
    for (const auto& levels : {std::vector<GroupLevel>{}, {MakeLevel("rack", {6}, 1.0)}})
    {
        const auto request = MakeHierarchicalRequest(6, 7200, levels, "star", true);
        EXPECT_THAT(BuildPlan("hierarchical", request), IsAllReduce());
        const auto statistics = ComputeStatistics("hierarchical", request);
        EXPECT_EQ(statistics.totalBytes, 2u * 5 * 7200);
        EXPECT_EQ(statistics.GetLongestChain(), 10u);
    }
}

TEST(HierarchicalScheme, RejectsGroupsThatDoNotExist)
{
    auto request = MakeHierarchicalRequest(6, 7200, {MakeLevel("rack", {3, 3}, 1.0)}, "star", true);
    const auto build = [&request] { BuildPlan("hierarchical", request); };
    request.parameters.Set("groupLevel", std::string("pod"));
    EXPECT_THAT(build, ThrowsMessage<SchemeError>(HasSubstr("the levels are: rack")));
    request.parameters.Set("groupSize", int64_t{2});
    EXPECT_THAT(build, ThrowsMessage<SchemeError>(HasSubstr("exclude each other")));
}

} // namespace

} // namespace ns3::gradsync
