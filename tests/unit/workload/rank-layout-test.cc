// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/rank-layout.h"
#include "ns3/workload-builder.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using RankList = std::vector<uint32_t>;

constexpr ParallelGroup ALL_GROUPS[] = {ParallelGroup::Tensor,
                                        ParallelGroup::Context,
                                        ParallelGroup::Data,
                                        ParallelGroup::Pipeline,
                                        ParallelGroup::Expert,
                                        ParallelGroup::ExpertTensor,
                                        ParallelGroup::ExpertData};

// The example of megatron/core/parallel_state.py, initialize_model_parallel: 16 GPUs, tensor 2,
// pipeline 4: tensor groups [0, 1], [2, 3], ..., pipelines [0, 4, 8, 12], [1, 5, 9, 13], ..., data
// groups [0, 2], [1, 3], [4, 6], ...
TEST(RankLayout, NumbersRanksAsMegatronDoes)
{
    ParallelDegrees degrees;
    degrees.tensor = 2;
    degrees.data = 2;
    degrees.pipeline = 4;
    const RankLayout layout(degrees);
    ASSERT_EQ(layout.GetRankCount(), 16);
    EXPECT_EQ(layout.GetGroup(ParallelGroup::Tensor, 3), (RankList{2, 3}));
    EXPECT_EQ(layout.GetGroup(ParallelGroup::Pipeline, 13), (RankList{1, 5, 9, 13}));
    EXPECT_EQ(layout.GetGroup(ParallelGroup::Data, 3), (RankList{1, 3}));
    EXPECT_EQ(layout.GetGroup(ParallelGroup::Data, 6), (RankList{4, 6}));
    EXPECT_EQ(layout.GetStage(11), 2);
    EXPECT_EQ(layout.GetPeer(13, 0), 1);
    EXPECT_EQ(layout.GetGroup(ParallelGroup::Expert, 5), (RankList{5}));
}

// tensor 2, context 2, data 2 on 8 ranks: rank = t + 2 c + 4 d. Gradients are summed over data and
// context. Experts 2 ways: rank = t + 2 e + 4 d, so expert groups are where the context ones are.
TEST(RankLayout, ExpertsLieWithinContextAndData)
{
    ParallelDegrees degrees;
    degrees.tensor = 2;
    degrees.context = 2;
    degrees.expert = 2;
    degrees.data = 2;
    const RankLayout layout(degrees);
    EXPECT_EQ(layout.GetGroup(ParallelGroup::Context, 5), (RankList{5, 7}));
    EXPECT_EQ(layout.GetGroup(ParallelGroup::Data, 5), (RankList{1, 3, 5, 7}));
    EXPECT_EQ(layout.GetGroup(ParallelGroup::Expert, 5), (RankList{5, 7}));
    EXPECT_EQ(layout.GetGroup(ParallelGroup::ExpertData, 5), (RankList{1, 5}));
    // Whole experts: 4 replicas of 2 halves become 2 of 4 ranks: rank = e + 4 d.
    degrees.expert = 4;
    degrees.expertTensor = 1;
    const RankLayout whole(degrees);
    EXPECT_EQ(whole.GetGroup(ParallelGroup::Tensor, 5), (RankList{4, 5}));
    EXPECT_EQ(whole.GetGroup(ParallelGroup::ExpertTensor, 5), (RankList{5}));
    EXPECT_EQ(whole.GetGroup(ParallelGroup::Expert, 5), (RankList{4, 5, 6, 7}));
    EXPECT_EQ(whole.GetGroup(ParallelGroup::ExpertData, 5), (RankList{1, 5}));
}

TEST(RankLayout, TakesAnyOrder)
{
    ParallelDegrees degrees;
    degrees.tensor = 2;
    degrees.data = 3;
    degrees.pipeline = 2;
    degrees.order = {ParallelAxis::Pipeline,
                     ParallelAxis::Data,
                     ParallelAxis::Tensor,
                     ParallelAxis::Context,
                     ParallelAxis::Expert};
    const RankLayout layout(degrees); // rank = p + 2 d + 6 t
    EXPECT_EQ(layout.GetGroup(ParallelGroup::Tensor, 3), (RankList{3, 9}));
    EXPECT_EQ(layout.GetGroup(ParallelGroup::Data, 9), (RankList{7, 9, 11}));
    EXPECT_EQ(layout.GetStage(9), 1);
    EXPECT_EQ(layout.GetPeer(9, 0), 8);
}

/// Every rank is in one group, which all its members see, and groups are of the size.
void
CheckGroups(const RankLayout& layout, ParallelGroup group, uint32_t size)
{
    ASSERT_EQ(layout.GetGroupSize(group), size);
    std::set<RankList> groups;
    for (uint32_t rank = 0; rank < layout.GetRankCount(); ++rank)
    {
        const auto members = layout.GetGroup(group, rank);
        ASSERT_EQ(members.size(), size);
        ASSERT_EQ(std::ranges::count(members, rank), 1);
        ASSERT_TRUE(std::ranges::is_sorted(members) || group == ParallelGroup::Data);
        for (const auto member : members)
        {
            ASSERT_EQ(layout.GetGroup(group, member), members);
        }
        groups.insert(members);
    }
    EXPECT_EQ(groups.size() * size, layout.GetRankCount());
}

TEST(RankLayout, EveryRankIsInOneGroupOfEachKindByAnyOrder)
{
    std::mt19937_64 random(21);
    const auto draw = [&random](uint32_t least, uint32_t most) {
        return std::uniform_int_distribution<uint32_t>(least, most)(random);
    };
    int built = 0;
    for (int round = 0; round < 200; ++round)
    {
        ParallelDegrees degrees;
        degrees.tensor = draw(1, 4);
        degrees.context = draw(1, 3);
        degrees.data = draw(1, 4);
        degrees.pipeline = draw(1, 4);
        degrees.expertTensor = draw(0, 1) == 0 ? 0 : 1;
        const auto tensor = degrees.expertTensor == 0 ? degrees.tensor : 1;
        const auto places = degrees.tensor * degrees.context * degrees.data / tensor;
        degrees.expert = draw(1, places);
        degrees.order = {ParallelAxis::Tensor,
                         ParallelAxis::Context,
                         ParallelAxis::Expert,
                         ParallelAxis::Data,
                         ParallelAxis::Pipeline};
        std::ranges::shuffle(degrees.order, random);
        try
        {
            const RankLayout layout(degrees);
            ++built;
            CheckGroups(layout, ParallelGroup::Tensor, degrees.tensor);
            CheckGroups(layout, ParallelGroup::Context, degrees.context);
            CheckGroups(layout, ParallelGroup::Data, degrees.data * degrees.context);
            CheckGroups(layout, ParallelGroup::Pipeline, degrees.pipeline);
            CheckGroups(layout, ParallelGroup::Expert, degrees.expert);
            CheckGroups(layout, ParallelGroup::ExpertTensor, tensor);
            CheckGroups(layout, ParallelGroup::ExpertData, places / degrees.expert);
            for (uint32_t rank = 0; rank < layout.GetRankCount(); ++rank)
            {
                for (const auto group : ALL_GROUPS)
                {
                    // All but pipelines stay in a stage.
                    const auto members = layout.GetGroup(group, rank);
                    EXPECT_TRUE(group == ParallelGroup::Pipeline ||
                                std::ranges::all_of(members, [&](uint32_t member) {
                                    return layout.GetStage(member) == layout.GetStage(rank);
                                }));
                }
                EXPECT_EQ(layout.GetPeer(rank, layout.GetStage(rank)), rank);
                EXPECT_EQ(layout.GetGroup(ParallelGroup::Pipeline, rank)[layout.GetStage(rank)],
                          rank);
            }
        }
        catch (const WorkloadError&)
        {
            // Only these are refused: experts that do not divide, and stages that would differ.
            EXPECT_TRUE(places % degrees.expert != 0 || degrees.pipeline > 1);
        }
    }
    EXPECT_GT(built, 60);
}

TEST(RankLayout, NamesWhatCannotBe)
{
    const auto make = [](const ParallelDegrees& degrees) { RankLayout layout(degrees); };
    ParallelDegrees degrees;
    degrees.tensor = 2;
    degrees.data = 6;
    degrees.expert = 4;
    EXPECT_THAT([&] { make(degrees); },
                testing::ThrowsMessage<WorkloadError>(
                    "4 expert x 2 tensor ranks do not divide the 12 ranks of a stage (2 tensor x 1 "
                    "context x 6 data)"));
    degrees.expert = 0;
    EXPECT_THAT(
        [&] { make(degrees); },
        testing::ThrowsMessage<WorkloadError>("parallelism of each kind is of at least one rank"));
    degrees.expert = 1;
    degrees.order = {ParallelAxis::Tensor, ParallelAxis::Tensor};
    EXPECT_THAT([&] { make(degrees); },
                testing::ThrowsMessage<WorkloadError>("an order of ranks has tensor, context, "
                                                      "expert, data and pipeline, each once"));
    degrees.order.clear();
    degrees.data = 1U << 20;
    EXPECT_THAT(
        [&] { make(degrees); },
        testing::ThrowsMessage<WorkloadError>(
            "2 tensor x 1 context x 1048576 data x 1 pipeline ranks are more than 1048576"));
    // tensor, pipeline, context, data: the stage of layers changes every 2 ranks, that of experts
    // (1 part of each) every rank.
    degrees.data = 2;
    degrees.expert = 4;
    degrees.expertTensor = 1;
    degrees.pipeline = 2;
    degrees.order = {ParallelAxis::Tensor,
                     ParallelAxis::Pipeline,
                     ParallelAxis::Context,
                     ParallelAxis::Expert,
                     ParallelAxis::Data};
    EXPECT_THAT([&] { make(degrees); },
                testing::ThrowsMessage<WorkloadError>(
                    "by this order of ranks layers and their experts would be on different stages: "
                    "let the pipeline come last"));
}

} // namespace
} // namespace ns3::gradsync
