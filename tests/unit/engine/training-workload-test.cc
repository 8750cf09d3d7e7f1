// SPDX-License-Identifier: GPL-2.0-only
#include "support/training-specs.h"
#include "support/workload-fixture.h"

#include "ns3/critical-path.h"
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
using tests::MakeOverlapping;
using tests::MakePipeline;
using tests::OverlappingLayers;

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

// Reference 2, section 2: first in, first out takes L f + max(L b + c, b + L c) from the beginning
// of one backward pass to that of the next: layer 1 comes last, nothing of the wait is hidden.
TEST_F(TrainingWorkloadTest, SumsInOrderHoldUpTheNextForwardPass)
{
    for (int round = 0; round < 20; ++round)
    {
        const OverlappingLayers of{Draw(1, 8),
                                   Draw(1, 40),
                                   Draw(1, 40),
                                   2 * Draw(1, 40),
                                   static_cast<uint32_t>(Draw(1, 4))};
        const auto period =
            of.layers * of.forward +
            std::max(of.layers * of.backward + of.exchange, of.backward + of.layers * of.exchange);
        for (const auto policy : {StreamPolicy::Program, StreamPolicy::Fifo})
        {
            const auto end = RunTraining(MakeOverlapping(of, {policy}));
            EXPECT_EQ(end, MicroSeconds(of.iterations * period));
            CheckCriticalPath(end);
            Reset();
        }
    }
}

// Section 2: at least max(L (f + b) + c, b + f + L c), above it by at most L slices.
TEST_F(TrainingWorkloadTest, PriorityHidesSumsBehindTheNextForwardPass)
{
    for (int round = 0; round < 30; ++round)
    {
        const auto pieces = Draw(1, 6);
        const auto piece = 2 * Draw(1, 20);
        const OverlappingLayers of{Draw(2, 8), Draw(1, 40), Draw(1, 40), pieces * piece, 4};
        const auto end = RunTraining(MakeOverlapping(of, {StreamPolicy::Priority, 0, piece}));
        CheckCriticalPath(end);
        const auto bound = std::max(of.layers * (of.forward + of.backward) + of.exchange,
                                    of.backward + of.forward + of.layers * of.exchange);
        const auto begins = tests::FindBackwardPasses(*m_workload, GetLog());
        for (size_t i = 1; i < begins.size(); ++i)
        {
            const auto period = (begins[i] - begins[i - 1]).GetMicroSeconds();
            EXPECT_GE(period, bound);
            EXPECT_LE(period, bound + of.layers * piece);
        }
        Reset();
    }
}

// Reduce-scatters follow the backward pass, r each; then the first layers' gathers come first and
// forward passes follow them as FSDP's do: max(L b + r, b + L r) + g + (L - 1) max(f, g) + f.
TEST_F(TrainingWorkloadTest, HalvesOfASumHideBehindBothPasses)
{
    for (int round = 0; round < 30; ++round)
    {
        const auto g = Draw(1, 40);
        const OverlappingLayers of{Draw(1, 8), Draw(1, 40), Draw(1, 40), 2 * g, 3};
        auto spec = MakeOverlapping(of, {});
        spec.dataParallelism = DataParallelism::ScatterGather;
        spec.gradientScheme = Choose("reduce-scatter");
        spec.parameterScheme = Choose("all-gather");
        const auto end = RunTraining(spec);
        CheckCriticalPath(end);
        const auto period = std::max(of.layers * of.backward + g, of.backward + of.layers * g) + g +
                            (of.layers - 1) * std::max(of.forward, g) + of.forward;
        const auto begins = tests::FindBackwardPasses(*m_workload, GetLog());
        ASSERT_EQ(begins.size(), 3);
        EXPECT_EQ(begins[1] - begins[0], MicroSeconds(period));
        EXPECT_EQ(begins[2] - begins[1], MicroSeconds(period));
        Reset();
    }
}

// K bytes in inner groups of n: (n - 1)/n K, then 2 (m - 1)/m K/n among m groups, (n - 1)/n K back.
TEST_F(TrainingWorkloadTest, SumsInTwoLevelsTakeTheirThreeParts)
{
    for (const uint32_t inner : {1, 2, 4})
    {
        for (const uint32_t groups : {1, 2, 3})
        {
            if (inner * groups == 1)
            {
                continue;
            }
            const uint64_t bytes = 120;
            TrainingSpec spec;
            spec.data = inner * groups;
            spec.blocks.assign(1, MakeBlock(10, 20, 0, bytes));
            spec.dataParallelism = DataParallelism::Hierarchical;
            spec.gradientScheme = Choose("reduce-scatter");
            spec.outerScheme = Choose("ring");
            spec.parameterScheme = Choose("all-gather");
            spec.innerRanks = inner;
            const auto end = RunTraining(spec);
            const auto within = bytes / inner * (inner - 1);
            const auto among = 2 * bytes / inner / groups * (groups - 1);
            EXPECT_EQ(end, MicroSeconds(30 + 2 * within + among)) << inner << " x " << groups;
            CheckCriticalPath(end);
            Reset();
        }
    }
}

// While one bucket is summed among groups, the next is scattered within them: on links that both
// need nothing is won, but nothing waits. Two buckets of 120 us within, 60 us among two groups of
// two: the links are busy all the time from b on.
TEST_F(TrainingWorkloadTest, LevelsOfASumOverlap)
{
    TrainingSpec spec;
    spec.data = 4;
    spec.blocks.assign(2, MakeBlock(0, 0, 0, 120));
    spec.buckets = {1, 1};
    spec.dataParallelism = DataParallelism::Hierarchical;
    spec.gradientScheme = Choose("reduce-scatter");
    spec.outerScheme = Choose("ring");
    spec.parameterScheme = Choose("all-gather");
    spec.innerRanks = 2;
    EXPECT_EQ(RunTraining(spec), MicroSeconds(2 * (60 + 60 + 60)));
}

// Section 2, Centauri: C/q + (q - 1)/q max(C, M) + M/q; C = M = 8 ms, q = 4: 10 ms.
TEST_F(TrainingWorkloadTest, SlicesHideCollectivesBehindComputations)
{
    const auto run = [this](uint64_t collective, uint64_t computation, uint32_t slices) {
        auto block = MakeBlock(0, computation);
        block.afterForward = {{Choose("ring"), collective}};
        TrainingSpec spec;
        spec.tensor = 2;
        spec.blocks = {block};
        spec.slices = slices;
        auto end = RunTraining(spec);
        CheckCriticalPath(end);
        Reset();
        return end;
    };
    EXPECT_EQ(run(8000, 8000, 1), MilliSeconds(16));
    EXPECT_EQ(run(8000, 8000, 4), MilliSeconds(10));
    for (int round = 0; round < 30; ++round)
    {
        const auto q = static_cast<uint32_t>(Draw(1, 8));
        const auto c = 2 * Draw(1, 60); // of a slice
        const auto m = Draw(1, 60);
        EXPECT_EQ(run(q * c, q * m, q), MicroSeconds(c + (q - 1) * std::max(c, m) + m));
    }
}

// Two buckets at once have half the links each: the first, alone until the second backward pass is
// done, ends at 2 c after the first one began to overlap, both together when one stream would.
TEST_F(TrainingWorkloadTest, BucketsOnTwoStreamsShareTheLinks)
{
    const uint64_t f = 5;
    const uint64_t b = 10;
    const uint64_t c = 100;
    auto spec = MakeOverlapping({2, f, b, c, 1}, {});
    EXPECT_EQ(RunTraining(spec), MicroSeconds(2 * f + b + 2 * c));
    Reset();
    spec.streams.count = 2;
    EXPECT_EQ(RunTraining(spec), MicroSeconds(2 * f + b + 2 * c));
    std::vector<Time> ends;
    for (TaskId id = 0; id < m_workload->GetTasks().size(); ++id)
    {
        const auto& task = m_workload->GetTasks()[id];
        if (task.rank == 0 && !task.IsCompute())
        {
            ends.push_back(GetLog().GetEnd(id));
        }
    }
    // Alone from b to 2 b, then at half the rate: 2 b + 2 (c - b) = 2 c after the forward pass.
    EXPECT_THAT(ends,
                testing::ElementsAre(MicroSeconds(2 * f + 2 * c), MicroSeconds(2 * f + b + 2 * c)));
}

TEST_F(TrainingWorkloadTest, HybridsOfAnyShapeEndAndNameWhatBoundsThem)
{
    for (int round = 0; round < 60; ++round)
    {
        auto spec = tests::DrawHybrid(m_random);
        tests::DrawExchange(m_random, spec);
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
    spec.slices = 0;
    EXPECT_THAT([&] { MakeTrainingWorkload(spec, shelf); },
                testing::ThrowsMessage<WorkloadError>(
                    "a microbatch has at least one slice, gradients one stream"));
    spec.slices = 1;
    spec.iterations = 70'000;
    EXPECT_THAT(
        [&] { MakeTrainingWorkload(spec, shelf); },
        testing::ThrowsMessage<WorkloadError>("a workload has 1 to 65535 iterations, not 70000"));
    spec.iterations = 1;
    spec.firstBlocks = {0, 2, 2};
    EXPECT_THAT([&] { MakeTrainingWorkload(spec, shelf); },
                testing::ThrowsMessage<WorkloadError>(
                    "first blocks ascend from 0, one for each chunk of each stage"));
}

TEST(TrainingWorkload, NamesExchangesInTwoLevelsThatCannotBe)
{
    TrainingSpec spec;
    spec.data = 6;
    spec.blocks.assign(1, MakeBlock(1, 1, 0, 8));
    spec.dataParallelism = DataParallelism::Hierarchical;
    spec.gradientScheme = Choose("reduce-scatter");
    spec.outerScheme = Choose("ring");
    spec.parameterScheme = Choose("all-gather");
    PlanShelf alike;
    EXPECT_THAT([&] { MakeTrainingWorkload(spec, alike); },
                testing::ThrowsMessage<WorkloadError>(
                    "an exchange in two levels needs the ranks of an inner group: the network has "
                    "no servers, racks or pods to take them from"));
    spec.innerRanks = 4;
    EXPECT_THAT([&] { MakeTrainingWorkload(spec, alike); },
                testing::ThrowsMessage<WorkloadError>(
                    "an exchange in two levels needs inner groups of one size; of 6 data-parallel "
                    "ranks one has 4, another 2"));
    // Racks of three.
    spec.innerRanks = 0;
    PlanShelf racks([](std::span<const uint32_t> ranks) {
        return ranks.size() == 6 ? oracles::MakeRackGroups(2, 3, 1.0) : WorkerGroups();
    });
    EXPECT_EQ(MakeTrainingWorkload(spec, racks).GetCommunications().size(), 2 + 3 + 2);
    spec.streams.pieceBytes = 1;
    spec.blocks[0].gradientBytes = 100'000;
    EXPECT_THAT([&] { MakeTrainingWorkload(spec, racks); },
                testing::ThrowsMessage<WorkloadError>(
                    "a bucket of 100000 bytes in pieces of 1 are more than 65536"));
}

} // namespace
} // namespace ns3::gradsync
