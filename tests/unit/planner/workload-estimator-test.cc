// SPDX-License-Identifier: GPL-2.0-only
#include "oracles/oracle-network.h"
#include "support/training-specs.h"

#include "ns3/training-planner.h"
#include "ns3/training-tuner.h"
#include "ns3/workload-estimator.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using tests::Choose;
using tests::MakeBlock;
using tests::MakePipeline;

/// Hosts below one switch, a byte a microsecond each way, no delays, no packets.
class WorkloadEstimatorTest : public testing::Test
{
  protected:
    double Estimate(const TrainingSpec& spec, uint32_t elementBytes = 1)
    {
        PlanShelf shelf({}, elementBytes);
        const auto workload = MakeTrainingWorkload(spec, shelf);
        std::vector<uint32_t> endpointOf(workload.GetRankCount());
        std::iota(endpointOf.begin(), endpointOf.end(), 0);
        return WorkloadEstimator(*m_network.topology, {}).Estimate(workload, endpointOf, 0.0) * 1e6;
    }

    uint64_t Draw(uint64_t least, uint64_t most)
    {
        return std::uniform_int_distribution<uint64_t>(least, most)(m_random);
    }

    oracles::RackNetwork m_network =
        oracles::MakeRackNetwork(1, 16, {DataRate("8Mbps"), DataRate("8Mbps"), Time(0)});
    std::mt19937_64 m_random{21};
};

// Reference 2, section 3: (m + p - 1)(F + B); one microbatch through p stages: messages of a us.
TEST_F(WorkloadEstimatorTest, PipelinesTakeTheirClosedForms)
{
    for (uint32_t stages = 1; stages < 6; ++stages)
    {
        for (const auto schedule :
             {PipelineSchedule::GPipe, PipelineSchedule::OneForwardOneBackward})
        {
            const PipelineShape shape{stages, static_cast<uint32_t>(Draw(1, 9))};
            EXPECT_DOUBLE_EQ(Estimate(MakePipeline(schedule, shape, MakeBlock(3, 7))),
                             10.0 * (shape.microbatches + stages - 1));
        }
        auto spec =
            MakePipeline(PipelineSchedule::OneForwardOneBackward, {stages, 1}, MakeBlock(10, 20));
        spec.activationBytes = 7;
        EXPECT_DOUBLE_EQ(Estimate(spec), stages * 30 + (stages - 1) * 2 * 7);
    }
}

// Section 2: in order L f + max(L b + c, b + L c); by priority at least max(L (f + b) + c, b + f +
// L c) an iteration and at most L slices more, at most as long as in order.
TEST_F(WorkloadEstimatorTest, PoliciesTakeTheirClosedForms)
{
    for (int round = 0; round < 20; ++round)
    {
        const auto layers = Draw(1, 8);
        const auto f = Draw(1, 40);
        const auto b = Draw(1, 40);
        const auto piece = 2 * Draw(1, 20);
        const auto c = piece * Draw(1, 5);
        TrainingSpec spec;
        spec.data = 2;
        spec.blocks.assign(layers, MakeBlock(f, b, 0, c));
        spec.buckets = {1, 1};
        spec.gradientScheme = Choose("ring");
        spec.iterations = 3;
        const auto inOrder = layers * f + std::max(layers * b + c, b + layers * c);
        for (const auto policy : {StreamPolicy::Program, StreamPolicy::Fifo})
        {
            spec.streams.policy = policy;
            EXPECT_DOUBLE_EQ(Estimate(spec), static_cast<double>(3 * inOrder));
        }
        spec.streams = {StreamPolicy::Priority, 0, piece};
        const auto before = Estimate(spec);
        ++spec.iterations;
        const auto period = Estimate(spec) - before;
        const auto bound = std::max(layers * (f + b) + c, b + f + layers * c);
        EXPECT_GE(period, static_cast<double>(bound) - 1e-6);
        EXPECT_LE(period, static_cast<double>(bound + layers * piece) + 1e-6);
    }
}

TEST_F(WorkloadEstimatorTest, SlicesTakeTheirClosedForm)
{
    // C/q + (q - 1)/q max(C, M) + M/q = 10 of 8 and 8 in 4.
    auto block = MakeBlock(0, 8000);
    block.afterForward = {{Choose("ring"), 8000}};
    TrainingSpec spec;
    spec.tensor = 2;
    spec.blocks = {block};
    spec.slices = 4;
    EXPECT_DOUBLE_EQ(Estimate(spec), 10'000);
}

class TrainingTunerTest : public WorkloadEstimatorTest
{
  protected:
    PlannedTraining Plan(const TrainingSpec& spec, const TrainingTuning& tuning)
    {
        TrainingJobSpec job;
        job.name = "job";
        job.spec = spec;
        job.endpointOf.resize(spec.tensor * spec.data * spec.pipeline.stages);
        std::iota(job.endpointOf.begin(), job.endpointOf.end(), 0);
        job.tuning = tuning;
        job.iterations = 5;
        job.hasBarrier = true;
        return PlanTraining(job, *m_network.topology);
    }
};

TEST_F(TrainingTunerTest, SlicesHideWhatTheyCan)
{
    // 16 ms whole, 12 in 2, 10 in 4, 9 in 8 slices, the most that are tried.
    auto block = MakeBlock(0, 8000);
    block.afterForward = {{Choose("ring"), 8000}};
    TrainingSpec spec;
    spec.tensor = 2;
    spec.blocks = {block};
    const auto planned = Plan(spec, {false, false, true});
    ASSERT_TRUE(planned.choice.has_value());
    EXPECT_EQ(planned.choice->text, "slices=8");
    EXPECT_NEAR(planned.choice->seconds, 0.009, 1e-12);
}

TEST_F(TrainingTunerTest, BucketsAreAsSmallAsOverlapNeeds)
{
    // Ten layers of 2 MB that each take as long to exchange as to go back: L f + b + L c when each
    // is exchanged on its own, as in buckets of 1 MiB; 25 MiB hold all of them until the end.
    const uint64_t bytes = 2'000'000;
    TrainingSpec spec;
    spec.data = 2;
    spec.blocks.assign(10, MakeBlock(0, bytes, 0, bytes));
    spec.gradientScheme = Choose("ring");
    spec.buckets = {25U << 20, 25U << 20};
    const auto planned = Plan(spec, {false, true, false});
    ASSERT_TRUE(planned.choice.has_value());
    EXPECT_EQ(planned.choice->text, "bucket=1048576");
    EXPECT_NEAR(planned.choice->seconds, 11 * 2.0, 1e-9);
}

TEST_F(TrainingTunerTest, SchemesAreTheBestOfTheirGroup)
{
    // Without latency nothing is faster than the ring's 2 (n - 1)/n K; `auto` finds one as fast.
    TrainingSpec spec;
    spec.data = 8;
    spec.blocks.assign(1, MakeBlock(10, 20, 0, 8'000'000));
    Scheme open;
    open.name = "auto";
    open.planOrigin = PlanOrigin::Estimate;
    spec.gradientScheme = {&open, {}};
    const auto planned = Plan(spec, {});
    ASSERT_TRUE(planned.choice.has_value());
    EXPECT_NEAR(planned.choice->seconds, 30e-6 + 14, 1e-9);
}

TEST_F(TrainingTunerTest, NothingIsChosenWhereAllIsGiven)
{
    TrainingSpec spec;
    spec.data = 2;
    spec.blocks.assign(1, MakeBlock(10, 20, 0, 100));
    spec.gradientScheme = Choose("ring");
    EXPECT_FALSE(Plan(spec, {}).choice.has_value());
}

// Never worse than what it starts from, and what it says is what comes out.
TEST_F(TrainingTunerTest, ChoicesAreNoWorseThanTheDefault)
{
    for (int round = 0; round < 10; ++round)
    {
        TrainingSpec spec;
        spec.tensor = static_cast<uint32_t>(Draw(1, 2));
        spec.data = static_cast<uint32_t>(Draw(2, 4));
        const auto forward = Draw(1, 40) * 100'000;
        const auto backward = Draw(1, 40) * 100'000;
        auto block = MakeBlock(forward, backward, 0, 4 * Draw(0, 999'999));
        const auto collectives = Draw(0, 1);
        block.afterForward.assign(collectives, {Choose("ring"), 4 * Draw(1, 999'999)});
        spec.blocks.assign(Draw(1, 6), block);
        spec.gradientScheme = Choose("ring");
        const auto planned = Plan(spec, {true, true, true});
        EXPECT_LE(planned.choice->seconds * 1e6, Estimate(spec, 4) * (1 + 1e-9));
        EXPECT_NEAR(planned.choice->seconds * 1e6, Estimate(planned.choice->spec, 4), 1e-3);
    }
}

} // namespace
} // namespace ns3::gradsync
