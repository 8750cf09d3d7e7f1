// SPDX-License-Identifier: GPL-2.0-only
// Byte counts of reference 2, section 3, for transformers of random sizes.
#include "support/training-models.h"
#include "support/training-volumes.h"

#include "ns3/plan-shelf.h"
#include "ns3/plan-statistics.h"

#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using tests::CountVolumes;
using tests::MakeGpt;
using tests::MakeModelTraining;
using tests::Volumes;

constexpr int ROUNDS = 40;

/// GPT of any size, on t tensor-parallel ranks that divide it.
struct RandomModel
{
    explicit RandomModel(std::mt19937_64& random)
    {
        const auto draw = [&random](uint32_t least, uint32_t most) {
            return std::uniform_int_distribution<uint32_t>(least, most)(random);
        };
        t = 1U << draw(1, 3);
        b = draw(1, 4);
        layers = draw(2, 12);
        heads = t * draw(1, 4);
        h = heads * 8 * draw(1, 16);
        s = t * draw(1, 200);
        training = MakeModelTraining(MakeGpt(layers, h, heads, s, t * draw(1, 5000)));
        training.degrees.tensor = t;
        training.microbatchSize = b;
    }

    /// 2 b s h, of bf16.
    uint64_t GetActivationBytes() const
    {
        return uint64_t{2} * b * s * h;
    }

    uint32_t t;
    uint32_t b;
    uint32_t layers;
    uint32_t heads;
    uint32_t h;
    uint32_t s;
    ModelTraining training;
};

// Two all-reduces a layer and direction of 2 b s h, one more of the embedding forward, of the
// output backward; three of the loss, 4 b s.
TEST(TrainingVolumes, TensorRanksSumTwiceALayer)
{
    std::mt19937_64 random(31);
    for (int round = 0; round < ROUNDS; ++round)
    {
        const RandomModel of(random);
        const auto spec = MakeTrainingSpec(of.training);
        const auto bytes = of.GetActivationBytes();
        // The sums of the loss may be as large as those of layers where h is small: added up.
        Volumes expected{{{ParallelGroup::Tensor, "ring", bytes}, 2 * of.layers + 1}};
        EXPECT_EQ(CountVolumes(spec, false), expected);
        expected[{ParallelGroup::Tensor, "ring", uint64_t{4} * of.b * of.s}] += 3;
        EXPECT_EQ(CountVolumes(spec, true), expected);
    }
}

// Forward 2 all-gathers and 2 reduce-scatters a layer, backward 4 and 2; one of each beside them
// forward (the embedding's scatter, the output's gather), backward 2 gathers and a scatter.
TEST(TrainingVolumes, SequenceParallelRanksGatherAndScatter)
{
    std::mt19937_64 random(32);
    for (int round = 0; round < ROUNDS; ++round)
    {
        RandomModel of(random);
        of.training.sequenceParallel = true;
        const auto spec = MakeTrainingSpec(of.training);
        const auto bytes = of.GetActivationBytes();
        EXPECT_EQ(CountVolumes(spec, false),
                  (Volumes{{{ParallelGroup::Tensor, "all-gather", bytes}, 4 * of.layers + 2},
                           {{ParallelGroup::Tensor, "reduce-scatter", bytes}, 2 * of.layers + 1}}));
        auto forward = CountVolumes(spec, true);
        EXPECT_EQ((forward[{ParallelGroup::Tensor, "all-gather", bytes}]), 2 * of.layers + 1);
        EXPECT_EQ((forward[{ParallelGroup::Tensor, "reduce-scatter", bytes}]), 2 * of.layers + 1);
    }
}

// 2 b s h/t between stages.
TEST(TrainingVolumes, StagesSendATensorRanksPart)
{
    std::mt19937_64 random(33);
    for (int round = 0; round < ROUNDS; ++round)
    {
        RandomModel of(random);
        of.training.degrees.pipeline = 2;
        of.training.sequenceParallel = round % 2 == 0;
        const auto spec = MakeTrainingSpec(of.training);
        EXPECT_EQ(spec.blocks[spec.firstBlocks[1] - 1].outputBytes, of.GetActivationBytes() / of.t);
    }
}

// Megatron-LM: fp32 gradients of V h/t word embeddings, of a model that ties them, where there are
// two stages to do it.
TEST(TrainingVolumes, StagesSumTheEmbeddingThatTheyShare)
{
    std::mt19937_64 random(37);
    for (int round = 0; round < ROUNDS; ++round)
    {
        RandomModel of(random);
        EXPECT_EQ(MakeTrainingSpec(of.training).tied.gradientBytes, 0);
        of.training.degrees.pipeline = 2;
        auto shape = *of.training.model.transformer;
        EXPECT_EQ(MakeTrainingSpec(of.training).tied.gradientBytes,
                  uint64_t{4} * shape.vocabulary * of.h / of.t);
        of.training.zeroStage = 3; // in bf16
        EXPECT_EQ(MakeTrainingSpec(of.training).tied.gradientBytes,
                  uint64_t{2} * shape.vocabulary * of.h / of.t);
        shape.tiesEmbedding = false;
        of.training.model = MakeTransformer(shape);
        EXPECT_EQ(MakeTrainingSpec(of.training).tied.gradientBytes, 0);
    }
}

// Data-parallel ranks scatter 4 bytes of each parameter, in fp32, and gather half as many, in bf16;
// ZeRO-3 moves 2 bytes of each in all three directions.
TEST(TrainingVolumes, DataParallelRanksMoveTheirParameters)
{
    std::mt19937_64 random(34);
    const auto add = [](const std::vector<ModelBlock>& blocks) {
        return std::accumulate(
            blocks.begin(),
            blocks.end(),
            uint64_t{0},
            [](uint64_t sum, const auto& block) { return sum + block.gradientBytes; });
    };
    for (int round = 0; round < ROUNDS; ++round)
    {
        RandomModel of(random);
        of.training.degrees.tensor = 1;
        of.training.degrees.data = 1U << (round % 8);
        const auto parameters = CountParameters(of.training.model);
        of.training.zeroStage = 1;
        const auto sharded = MakeTrainingSpec(of.training);
        EXPECT_EQ(add(sharded.blocks), 4 * parameters);
        EXPECT_EQ(sharded.parameterShare, 0.5);
        EXPECT_EQ(sharded.dataParallelism, DataParallelism::ShardedOptimizer);
        of.training.zeroStage = 3;
        EXPECT_EQ(add(MakeTrainingSpec(of.training).blocks), 2 * parameters);
    }
}

// Four all-to-alls a layer and microbatch of b s h k elements, which tensor-parallel ranks split;
// (ep - 1)/ep of them leave a rank.
TEST(TrainingVolumes, TokensLeaveForOtherExperts)
{
    std::mt19937_64 random(35);
    for (int round = 0; round < ROUNDS; ++round)
    {
        RandomModel of(random);
        auto shape = *of.training.model.transformer;
        const auto ep = 2U << (round % 3);
        shape.experts = 2 * ep;
        shape.expertsPerToken = 1 + round % 4;
        auto training = MakeModelTraining(shape);
        training.degrees = of.training.degrees;
        training.degrees.data = ep;
        training.degrees.expert = ep;
        training.microbatchSize = of.b;
        training.sequenceParallel = true;
        const auto spec = MakeTrainingSpec(training);
        const auto own = of.GetActivationBytes() * shape.expertsPerToken / of.t;
        uint32_t count = 0;
        for (const bool isForward : {true, false})
        {
            count += CountVolumes(spec, isForward)[{ParallelGroup::Expert, "all-to-all", own}];
        }
        EXPECT_EQ(count, 4 * of.layers);
        std::vector<uint32_t> ranks(ep);
        std::iota(ranks.begin(), ranks.end(), 0U);
        const auto plan =
            PlanShelf({}, 1).GetCollective(tests::ChooseScheme("all-to-all"), ranks, own);
        // h is a multiple of 8, so every expert rank gets as much.
        EXPECT_EQ(ComputePlanStatistics(*plan).GetPeakSentBytes(), own / ep * (ep - 1));
    }
}

// Korthikanti et al., table 2: what a layer keeps of a microbatch.
TEST(TrainingVolumes, LayersKeepTheirActivations)
{
    std::mt19937_64 random(36);
    for (int round = 0; round < ROUNDS; ++round)
    {
        RandomModel of(random);
        auto training = of.training;
        const auto keep = [&] {
            auto less = training;
            auto shape = *training.model.transformer;
            --shape.layers;
            less.model = MakeTransformer(shape);
            return EstimateMemory(training, 0).activations - EstimateMemory(less, 0).activations;
        };
        const auto sbh = of.GetActivationBytes() / 2;
        const auto scores = uint64_t{5} * of.heads * of.s * of.s * of.b;
        const auto t = of.t;
        EXPECT_EQ(keep(), 10 * sbh + 24 * sbh / t + scores / t);
        training.sequenceParallel = true;
        EXPECT_EQ(keep(), 34 * sbh / t + scores / t);
        training.recomputation = Recomputation::Selective;
        EXPECT_EQ(keep(), 34 * sbh / t);
        training.recomputation = Recomputation::Full;
        EXPECT_EQ(keep(), 2 * sbh / t);
        training.sequenceParallel = false;
        EXPECT_EQ(keep(), 2 * sbh);
        training = of.training;
        training.degrees.tensor = 1;
        EXPECT_EQ(keep(), 34 * sbh + scores);
    }
}

} // namespace
} // namespace ns3::gradsync
