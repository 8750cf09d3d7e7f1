// SPDX-License-Identifier: GPL-2.0-only
// Closed forms of pipelines whose stages differ, or send messages, or sum gradients at their end.
#include "support/training-specs.h"
#include "support/workload-fixture.h"

#include "ns3/plan-shelf.h"
#include "ns3/training-workload.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <span>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using tests::Choose;
using tests::MakeBlock;

/// 1F1B of stages that differ; two data-parallel ranks sum the gradients of each at its end.
struct UnequalStages
{
    uint32_t microbatches;
    std::vector<uint64_t> forward; //!< [stage] in us, as all of them
    std::vector<uint64_t> backward;
    std::vector<uint64_t> exchange; //!< a ring of two takes K us for K bytes: 2 (n - 1)/n = 1

    TrainingSpec MakeSpec() const
    {
        TrainingSpec spec;
        spec.schedule = PipelineSchedule::OneForwardOneBackward;
        spec.pipeline = {static_cast<uint32_t>(forward.size()), microbatches};
        spec.data = 2;
        spec.gradientScheme = Choose("ring");
        for (size_t stage = 0; stage < forward.size(); ++stage)
        {
            spec.blocks.push_back(MakeBlock(forward[stage], backward[stage], 0, exchange[stage]));
        }
        return spec;
    }

    /**
     * DAPPLE (PPoPP'21, section 4.1) with pivot Q: sum of F up to Q, (M - 1)(F_Q + B_Q), and the
     * longest of AR_s and the backward passes from Q to s, s up to Q. Behind Q stages are done
     * earlier; what they sum then is hidden unless it is long, which the pivot itself bounds.
     */
    uint64_t EstimateByPivot(size_t pivot) const
    {
        const auto upTo = std::span(forward).first(pivot + 1);
        const auto warmUp = std::accumulate(upTo.begin(), upTo.end(), uint64_t{0});
        const auto steady = (microbatches - 1) * (forward[pivot] + backward[pivot]);
        uint64_t ending = 0;
        uint64_t passes = 0;
        for (auto stage = pivot + 1; stage-- > 0;)
        {
            passes += backward[stage];
            ending = std::max(ending, passes + exchange[stage]);
        }
        return warmUp + steady + ending;
    }
};

class PipelineFormsTest : public tests::WorkloadFixture
{
  protected:
    Time RunTraining(const TrainingSpec& spec)
    {
        PlanShelf shelf({}, 1);
        return Run(MakeTrainingWorkload(spec, shelf));
    }

    UnequalStages DrawStages(uint64_t mostExchange)
    {
        UnequalStages stages{static_cast<uint32_t>(Draw(1, 9)), {}, {}, {}};
        for (auto left = Draw(1, 6); left > 0; --left)
        {
            stages.forward.push_back(Draw(1, 40));
            stages.backward.push_back(Draw(1, 40));
            stages.exchange.push_back(2 * Draw(0, mostExchange / 2));
        }
        return stages;
    }
};

// Where the last stage is the slowest it is the pivot, and never waits after its first pass: by
// induction over microbatches stage s has what it needs (with p - s - 1 passes ahead, and no longer
// passes than the last stage has) by the time the stage behind it does. So the estimate is exact;
// of equal stages it is (M + S - 1)(F + B) without sums.
TEST_F(PipelineFormsTest, DapplesEstimateIsExactWhereTheLastStageIsTheSlowest)
{
    for (int round = 0; round < 40; ++round)
    {
        auto stages = DrawStages(200);
        stages.forward.back() = *std::ranges::max_element(stages.forward);
        stages.backward.back() = *std::ranges::max_element(stages.backward);
        EXPECT_EQ(RunTraining(stages.MakeSpec()),
                  MicroSeconds(stages.EstimateByPivot(stages.forward.size() - 1)));
        Reset();
    }
}

// Reference 2, section 3: at least max_s [sum_{i<s} (F_i + B_i) + m (F_s + B_s)], and never below
// the estimate by any pivot, sums included: stage Q begins after the passes before it, does m of
// both, and the last backward pass goes on from it. Graphs with a fixed order take no longer when
// tasks are shorter: with all stages as slow as the slowest of each it is (m + p - 1)(F + B), and
// the longest sum at the end.
TEST_F(PipelineFormsTest, UnequalStagesOf1F1BKeepToTheirBounds)
{
    int aboveTheBound = 0;
    for (int round = 0; round < 60; ++round)
    {
        const auto stages = DrawStages(round % 2 == 0 ? 0 : 200);
        const auto end = RunTraining(stages.MakeSpec());
        uint64_t bound = 0;
        uint64_t before = 0;
        for (size_t stage = 0; stage < stages.forward.size(); ++stage)
        {
            const auto own = stages.forward[stage] + stages.backward[stage];
            bound = std::max(bound, before + stages.microbatches * own);
            before += own;
            EXPECT_GE(end, MicroSeconds(stages.EstimateByPivot(stage)));
        }
        EXPECT_GE(end, MicroSeconds(bound));
        aboveTheBound += end > MicroSeconds(bound) ? 1 : 0;
        const auto slowest =
            *std::ranges::max_element(stages.forward) + *std::ranges::max_element(stages.backward);
        EXPECT_LE(end,
                  MicroSeconds((stages.microbatches + stages.forward.size() - 1) * slowest +
                               *std::ranges::max_element(stages.exchange)));
        Reset();
    }
    EXPECT_GT(aboveTheBound, 0); // it is no equality
}

// GPipe with a message of a us after each stage but the last: one more stage of a each, so
// sum F + (p - 1) a + (m - 1) max(F, a), and as much backward.
TEST_F(PipelineFormsTest, MessagesAreStagesOfGPipe)
{
    for (int round = 0; round < 40; ++round)
    {
        TrainingSpec spec;
        spec.schedule = PipelineSchedule::GPipe;
        spec.pipeline = {static_cast<uint32_t>(Draw(2, 5)), static_cast<uint32_t>(Draw(1, 8))};
        spec.activationBytes = Draw(1, 60);
        auto sum = uint64_t{2} * (spec.pipeline.stages - 1) * spec.activationBytes;
        auto forward = spec.activationBytes;
        auto backward = spec.activationBytes;
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

// A microbatch of two tensor-parallel ranks: each stage passes its output on when the sum of it is
// there, C us forward and D back, in A us, and nothing is beside anything else: 2 (F + C + B + D) +
// 2 A.
TEST_F(PipelineFormsTest, OutputsAreSentWhenTheyAreSummed)
{
    for (int round = 0; round < 20; ++round)
    {
        const auto forward = Draw(1, 20);
        const auto backward = Draw(1, 20);
        const auto forwardSum = 2 * Draw(1, 30);
        const auto backwardSum = 2 * Draw(1, 30);
        auto block = MakeBlock(forward, backward);
        block.afterForward = {{Choose("ring"), forwardSum}};
        block.afterBackward = {{Choose("ring"), backwardSum}};
        auto spec = tests::MakePipeline(PipelineSchedule::GPipe, {2, 1}, block);
        spec.tensor = 2;
        spec.activationBytes = Draw(1, 50);
        EXPECT_EQ(RunTraining(spec),
                  MicroSeconds(2 * (forward + forwardSum + backward + backwardSum) +
                               2 * spec.activationBytes));
        Reset();
    }
}

// ZB-H1 of one stage: M (F + B + W), then the sum of two data-parallel ranks, K us for K bytes.
TEST_F(PipelineFormsTest, WeightGradientsAreSummedBehindTheLast)
{
    for (int round = 0; round < 20; ++round)
    {
        const auto forward = Draw(1, 20);
        const auto backward = Draw(1, 20);
        const auto weights = Draw(1, 20);
        const auto gradient = 2 * Draw(1, 60);
        auto spec = tests::MakePipeline(PipelineSchedule::ZeroBubbleH1,
                                        {1, static_cast<uint32_t>(Draw(1, 5))},
                                        MakeBlock(forward, backward, weights, gradient));
        spec.data = 2;
        spec.gradientScheme = Choose("ring");
        EXPECT_EQ(
            RunTraining(spec),
            MicroSeconds(spec.pipeline.microbatches * (forward + backward + weights) + gradient));
        Reset();
    }
}

// Two blocks with a bucket each: back from the last, whose sum of G1 us goes on beside the pass of
// the first, B0 us: F0 + F1 + B1 + max(B0, G1) + G0.
TEST_F(PipelineFormsTest, BackwardPassesBeginWithTheLastBlock)
{
    for (int round = 0; round < 20; ++round)
    {
        const auto forward = Draw(1, 20);
        const auto backward = Draw(1, 40);
        const auto sum = 2 * Draw(1, 30);
        const auto lastBackward = Draw(1, 40);
        const auto lastSum = 2 * Draw(1, 30);
        TrainingSpec spec;
        spec.blocks = {MakeBlock(forward, backward, 0, sum),
                       MakeBlock(forward, lastBackward, 0, lastSum)};
        spec.data = 2;
        spec.gradientScheme = Choose("ring");
        spec.buckets = {1, 1};
        EXPECT_EQ(RunTraining(spec),
                  MicroSeconds(2 * forward + lastBackward + std::max(backward, lastSum) + sum));
        Reset();
    }
}

// The first and the last stage sum K bytes of tied parameters when data-parallel ranks have: K us
// by a ring of two. The first stage is done last, at (m + p - 1)(F + B), and its two ranks sum G
// bytes of a block in G us; with ZeRO-1 they scatter them in G/2, and gather as many after the tied
// sum. With ZeRO-3 they gather once before, G/2, scatter, and sum their halves of K. The last stage
// has summed its own, and sent its first half of K to a rank that has not come yet, by the time the
// first stage begins to sum on the same links: B >= G + K.
TEST_F(PipelineFormsTest, StagesSumWhatTheyShare)
{
    for (int round = 0; round < 40; ++round)
    {
        const auto forward = Draw(1, 20);
        const auto own = 2 * Draw(1, 60);
        const auto tied = 4 * Draw(1, 60);
        const auto backward = own + tied + Draw(0, 20);
        auto spec = tests::MakePipeline(
            round % 2 == 0 ? PipelineSchedule::GPipe : PipelineSchedule::OneForwardOneBackward,
            {static_cast<uint32_t>(Draw(2, 5)), static_cast<uint32_t>(Draw(1, 6))},
            MakeBlock(forward, backward, 0, own));
        spec.tied = {tied, Choose("ring")};
        const auto passes =
            (spec.pipeline.microbatches + spec.pipeline.stages - 1) * (forward + backward);
        EXPECT_EQ(RunTraining(spec), MicroSeconds(passes + tied));
        Reset();
        spec.data = 2;
        spec.gradientScheme = Choose("ring");
        EXPECT_EQ(RunTraining(spec), MicroSeconds(passes + own + tied));
        Reset();
        spec.gradientScheme = Choose("reduce-scatter");
        spec.parameterScheme = Choose("all-gather");
        spec.dataParallelism = DataParallelism::ShardedOptimizer;
        EXPECT_EQ(RunTraining(spec), MicroSeconds(passes + own / 2 + tied + own / 2));
        Reset();
        spec.dataParallelism = DataParallelism::FullySharded;
        spec.parameterGather = ParameterGather::Iteration;
        EXPECT_EQ(RunTraining(spec), MicroSeconds(own / 2 + passes + own / 2 + tied / 2));
        Reset();
        spec.pipeline.stages = 1;
        spec.dataParallelism = DataParallelism::AllReduce;
        spec.gradientScheme = Choose("ring");
        spec.overlaps = false;
        const auto all = spec.blocks.size() * (spec.pipeline.microbatches * (forward + backward));
        EXPECT_EQ(RunTraining(spec), MicroSeconds(all + spec.blocks.size() * own));
        Reset();
    }
}

} // namespace
} // namespace ns3::gradsync
