// SPDX-License-Identifier: GPL-2.0-only
#include "support/training-specs.h"
#include "support/workload-fixture.h"

#include "ns3/critical-path.h"
#include "ns3/fully-sharded-workload.h"
#include "ns3/plan-shelf.h"
#include "ns3/training-workload.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using tests::Choose;
using tests::MakeBlock;
using tests::MakePipeline;

class TrainingWorkloadTest : public tests::WorkloadFixture
{
  protected:
    Time RunTraining(const TrainingSpec& spec)
    {
        PlanShelf shelf({}, 1);
        return Run(MakeTrainingWorkload(spec, shelf));
    }

    /// Every step begins where the one before it ends, from 0 to the end.
    void CheckCriticalPath(const Time& end)
    {
        const auto path = FindCriticalPath(*m_workload, GetLog());
        auto at = Time(0);
        for (const auto& step : path)
        {
            ASSERT_EQ(step.begin, at);
            ASSERT_GE(step.end, step.begin);
            at = step.end;
        }
        EXPECT_EQ(at, end);
    }
};

// Reference 2, section 3: (m + p - 1)(F + B).
TEST_F(TrainingWorkloadTest, PipelinesOfEqualStagesTakeTheClosedForm)
{
    for (int round = 0; round < 30; ++round)
    {
        const PipelineShape shape{static_cast<uint32_t>(Draw(1, 6)),
                                  static_cast<uint32_t>(Draw(1, 12))};
        const auto forward = Draw(1, 30);
        const auto backward = Draw(1, 30);
        for (const auto schedule :
             {PipelineSchedule::GPipe, PipelineSchedule::OneForwardOneBackward})
        {
            const auto end =
                RunTraining(MakePipeline(schedule, shape, MakeBlock(forward, backward)));
            EXPECT_EQ(end,
                      MicroSeconds((shape.microbatches + shape.stages - 1) * (forward + backward)));
            CheckCriticalPath(end);
            Reset();
        }
    }
}

// Section 3: m (F + B) + (p - 1)(F + B)/v, where a stage has v chunks of F/v and B/v.
TEST_F(TrainingWorkloadTest, InterleavedChunksShrinkTheBubble)
{
    for (const uint32_t stages : {1, 2, 4})
    {
        for (const uint32_t chunks : {1, 2, 3})
        {
            for (const uint32_t turns : {1, 2, 3})
            {
                const PipelineShape shape{stages, stages * turns, chunks};
                const auto end = RunTraining(
                    MakePipeline(PipelineSchedule::Interleaved, shape, MakeBlock(3, 7)));
                EXPECT_EQ(
                    end,
                    MicroSeconds(10 * (uint64_t{shape.microbatches} * chunks + shape.stages - 1)));
                CheckCriticalPath(end);
                Reset();
            }
        }
    }
}

// Section 3: the bubble is (p - 1)(F + B - W), for at least as many microbatches as stages.
TEST_F(TrainingWorkloadTest, WeightGradientsFillTheBubbleOfZbH1)
{
    for (const auto& [forward, backward, weights] :
         {std::tuple(1, 1, 1), std::tuple(2, 3, 1), std::tuple(3, 3, 2), std::tuple(5, 5, 3)})
    {
        for (const uint32_t stages : {1, 2, 3, 4})
        {
            for (uint32_t microbatches = stages; microbatches < 3 * stages; ++microbatches)
            {
                const auto end = RunTraining(MakePipeline(PipelineSchedule::ZeroBubbleH1,
                                                          {stages, microbatches},
                                                          MakeBlock(forward, backward, weights)));
                EXPECT_EQ(end,
                          MicroSeconds(microbatches * (forward + backward + weights) +
                                       (stages - 1) * (forward + backward - weights)))
                    << stages << " stages, " << microbatches << " microbatches";
                Reset();
            }
        }
    }
}

// Section 3: sum F + (m - 1) max F + sum B + (m - 1) max B.
TEST_F(TrainingWorkloadTest, TheSlowestStageBoundsGPipe)
{
    for (int round = 0; round < 30; ++round)
    {
        TrainingSpec spec;
        spec.schedule = PipelineSchedule::GPipe;
        spec.pipeline = {static_cast<uint32_t>(Draw(1, 5)), static_cast<uint32_t>(Draw(1, 8))};
        uint64_t sum = 0;
        uint64_t forward = 0;
        uint64_t backward = 0;
        for (uint32_t stage = 0; stage < spec.pipeline.stages; ++stage)
        {
            const auto f = Draw(1, 40);
            const auto b = Draw(1, 40);
            spec.blocks.push_back(MakeBlock(f, b));
            sum += f + b;
            forward = std::max(forward, f);
            backward = std::max(backward, b);
        }
        EXPECT_EQ(RunTraining(spec),
                  MicroSeconds(sum + (spec.pipeline.microbatches - 1) * (forward + backward)));
        Reset();
    }
}

// DAPPLE's example (section 2): F = 1, B = 2, two stages, four microbatches: 15.
TEST_F(TrainingWorkloadTest, EarlyBackwardTakesAsLongAsGPipeAndHoldsLess)
{
    const PipelineShape shape{2, 4};
    EXPECT_EQ(
        RunTraining(MakePipeline(PipelineSchedule::OneForwardOneBackward, shape, MakeBlock(1, 2))),
        MicroSeconds(15));
}

TEST_F(TrainingWorkloadTest, ActivationsAndTheirGradientsTravelBetweenStages)
{
    // One microbatch through p stages: nothing overlaps. A message of a bytes takes a us.
    for (const uint32_t stages : {2, 3, 5})
    {
        auto spec =
            MakePipeline(PipelineSchedule::OneForwardOneBackward, {stages, 1}, MakeBlock(10, 20));
        spec.activationBytes = 7;
        const auto end = RunTraining(spec);
        EXPECT_EQ(end, MicroSeconds(stages * 30 + (stages - 1) * 2 * 7));
        CheckCriticalPath(end);
        Reset();
    }
}

TEST_F(TrainingWorkloadTest, TensorParallelRanksWaitForTheirSums)
{
    // Two all-reduces each way: K bytes among two ranks take K us by ring (2 (n - 1)/n = 1).
    auto block = MakeBlock(10, 20);
    block.afterForward.assign(2, {Choose("ring"), 6});
    block.afterBackward.assign(2, {Choose("ring"), 6});
    TrainingSpec spec;
    spec.tensor = 2;
    spec.blocks.assign(5, block);
    spec.pipeline.microbatches = 3;
    const auto end = RunTraining(spec);
    EXPECT_EQ(end, MicroSeconds(15 * uint64_t{30 + 4 * 6}));
    CheckCriticalPath(end);
}

// Section 2: L f + max(L b + c, b + L c).
TEST_F(TrainingWorkloadTest, BucketsOfDataParallelRanksOverlapWithTheBackwardPass)
{
    for (int round = 0; round < 30; ++round)
    {
        const auto layers = Draw(1, 10);
        const auto forward = Draw(1, 30);
        const auto backward = Draw(1, 30);
        const auto exchange = 2 * Draw(1, 30);
        TrainingSpec spec;
        spec.data = 2;
        spec.blocks.assign(layers, MakeBlock(forward, backward, 0, exchange));
        spec.buckets = {1, 1}; // a layer each
        spec.gradientScheme = Choose("ring");
        const auto end = RunTraining(spec);
        EXPECT_EQ(end,
                  MicroSeconds(layers * forward + std::max(layers * backward + exchange,
                                                           backward + layers * exchange)));
        CheckCriticalPath(end);
        Reset();
        spec.overlaps = false;
        EXPECT_EQ(RunTraining(spec), MicroSeconds(layers * (forward + backward + exchange)));
        Reset();
    }
}

TEST_F(TrainingWorkloadTest, ShardedOptimizersScatterGradientsAndGatherParameters)
{
    // Among n = 4 ranks each takes (n - 1)/n of the bytes: 400 B of gradients 300 us, and half of
    // that for parameters in half as many bytes.
    TrainingSpec spec;
    spec.data = 4;
    spec.blocks.assign(3, MakeBlock(10, 20, 0, 400));
    spec.buckets = {1, 1};
    spec.gradientScheme = Choose("reduce-scatter");
    spec.parameterScheme = Choose("all-gather");
    spec.dataParallelism = DataParallelism::ShardedOptimizer;
    spec.parameterShare = 0.5;
    EXPECT_EQ(RunTraining(spec), MicroSeconds(3 * 10 + 20 + 3 * 300 + 3 * 150));
}

// Section 2: the first bucket closes at 1 byte, and gradients of microbatches are summed first.
TEST_F(TrainingWorkloadTest, AccumulatedGradientsAreExchangedOnce)
{
    TrainingSpec spec;
    spec.data = 2;
    spec.blocks.assign(1, MakeBlock(10, 20, 0, 50));
    spec.pipeline.microbatches = 4;
    spec.gradientScheme = Choose("ring");
    EXPECT_EQ(RunTraining(spec), MicroSeconds(4 * 30 + 50));
}

// Section 2, FSDP: forward g + (L - 1) max(f, g) + f; backward g + L b + r if b >= g + r, else
// max(2 g, g + b) + (L - 2)(g + r) + r + max(b, r); r = g, L at least 2.
TEST_F(TrainingWorkloadTest, FullyShardedRanksGatherOneBlockAhead)
{
    for (int round = 0; round < 60; ++round)
    {
        const auto layers = Draw(2, 10);
        const auto f = Draw(1, 60);
        const auto b = Draw(1, 120);
        const auto g = Draw(1, 40);
        FullyShardedSpec spec;
        spec.ranks = 2;
        // (n - 1)/n of 2 g bytes take g us.
        spec.blocks.assign(layers, MakeBlock(f, b, 0, 2 * g));
        spec.gatherScheme = Choose("all-gather");
        spec.reduceScheme = Choose("reduce-scatter");
        PlanShelf shelf({}, 1);
        const auto end = Run(MakeFullyShardedWorkload(spec, shelf));
        const auto forward = g + (layers - 1) * std::max(f, g) + f;
        const auto backward =
            b >= 2 * g ? g + layers * b + g
                       : std::max(2 * g, g + b) + (layers - 2) * 2 * g + g + std::max(b, g);
        EXPECT_EQ(end, MicroSeconds(forward + backward))
            << layers << ' ' << f << ' ' << b << ' ' << g;
        EXPECT_EQ(shelf.GetSize(), 2); // one plan for all gathers, one for all scatters
        CheckCriticalPath(end);
        Reset();
    }
}

// Experts of n = 4 ranks, two all-to-alls each way: of K bytes (n - 1)/n leave a rank, K = 8 takes
// 6 us. Gradients but for experts' are summed by the same four, experts' by nobody.
TEST_F(TrainingWorkloadTest, ExpertsAreExchangedAllToAll)
{
    auto block = MakeBlock(10, 20, 0, 40);
    const BlockCollective exchange{Choose("all-to-all"), 8, ParallelGroup::Expert};
    block.beforeForward = {exchange};
    block.afterForward = {exchange};
    block.beforeBackward = {exchange};
    block.afterBackward = {exchange};
    block.expertGradientBytes = 1000;
    TrainingSpec spec;
    spec.data = 4;
    spec.expert = 4;
    spec.blocks.assign(3, block);
    spec.pipeline.microbatches = 2;
    spec.gradientScheme = Choose("ring");
    spec.overlaps = false;
    // The ring moves 2 (n - 1)/n of 3 x 40 B, one bucket.
    auto end = RunTraining(spec);
    EXPECT_EQ(end, MicroSeconds(2 * 3 * uint64_t{30 + 4 * 6} + 180));
    CheckCriticalPath(end);
    Reset();
    // Two ways: half of 8 B leaves a rank, and pairs of ranks sum 3000 B of experts.
    spec.expert = 2;
    end = RunTraining(spec);
    EXPECT_EQ(end, MicroSeconds(2 * 3 * uint64_t{30 + 4 * 4} + 180 + 3000));
    CheckCriticalPath(end);
}

// Keys and values are gathered by n = 3 context ranks, their gradients scattered: 2/3 of 9 B take 6
// us. The same ranks sum gradients, 2 (n - 1)/n of 30 B.
TEST_F(TrainingWorkloadTest, ContextRanksGatherKeysAndSumGradients)
{
    auto block = MakeBlock(10, 20, 0, 30);
    block.beforeForward = {{Choose("all-gather"), 9, ParallelGroup::Context}};
    block.beforeBackward = {{Choose("all-gather"), 9, ParallelGroup::Context}};
    block.afterBackward = {{Choose("reduce-scatter"), 9, ParallelGroup::Context}};
    TrainingSpec spec;
    spec.context = 3;
    spec.blocks.assign(4, block);
    spec.gradientScheme = Choose("ring");
    spec.overlaps = false;
    const auto end = RunTraining(spec);
    EXPECT_EQ(end, MicroSeconds(4 * uint64_t{30 + 3 * 6} + 160));
    CheckCriticalPath(end);
}

// What goes between stages is told by the block that ends there: 5 us after the first of three
// stages, 7 us, as the spec says, after the second, each way.
TEST_F(TrainingWorkloadTest, BlocksSayWhatTheySendToTheNextStage)
{
    auto spec = MakePipeline(PipelineSchedule::OneForwardOneBackward, {3, 1}, MakeBlock(10, 20));
    spec.activationBytes = 7;
    spec.blocks[0].outputBytes = 5;
    EXPECT_EQ(RunTraining(spec), MicroSeconds(3 * 30 + 2 * (5 + 7)));
}

TEST_F(TrainingWorkloadTest, HybridsOfAnyShapeEndAndNameWhatBoundsThem)
{
    for (int round = 0; round < 25; ++round)
    {
        const auto spec = tests::DrawHybrid(m_random);
        uint64_t computes = 0;
        const auto end = RunTraining(spec);
        for (const auto& task : m_workload->GetTasks())
        {
            computes = task.rank == 0 ? computes + task.picoseconds : computes;
        }
        EXPECT_GE(end, PicoSeconds(computes)); // what rank 0 alone computes
        CheckCriticalPath(end);
        Reset();
    }
}

TEST(TrainingWorkload, NamesWhatCannotBe)
{
    PlanShelf shelf;
    TrainingSpec spec;
    spec.pipeline.stages = 3;
    spec.blocks.resize(2);
    EXPECT_THAT([&] { MakeTrainingWorkload(spec, shelf); },
                testing::ThrowsMessage<WorkloadError>(
                    "a pipeline of 3 stages with 1 chunks each needs at least as many blocks; the "
                    "model has 2"));
    spec.blocks.resize(3);
    spec.tensor = 0;
    EXPECT_THAT(
        [&] { MakeTrainingWorkload(spec, shelf); },
        testing::ThrowsMessage<WorkloadError>("parallelism of each kind is of at least one rank"));
    spec.tensor = 1;
    spec.firstBlocks = {0, 2, 2};
    EXPECT_THAT([&] { MakeTrainingWorkload(spec, shelf); },
                testing::ThrowsMessage<WorkloadError>(
                    "first blocks ascend from 0, one for each chunk of each stage"));
}

} // namespace
} // namespace ns3::gradsync
