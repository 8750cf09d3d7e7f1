// SPDX-License-Identifier: GPL-2.0-only
// ZeRO-3 and FSDP, alone and with other parallelism, on a fluid network.
#include "support/training-specs.h"
#include "support/workload-fixture.h"

#include "ns3/plan-shelf.h"
#include "ns3/plan-statistics.h"
#include "ns3/training-workload.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <string>

namespace ns3::gradsync
{
namespace
{

using tests::MakeBlock;
using tests::MakeSharded;

/// Equal blocks of two data-parallel ranks: half of 2 g bytes takes g us, gathered or scattered.
struct ShardedBlocks
{
    uint64_t layers;
    uint64_t forward;
    uint64_t backward;
    uint64_t gathered;

    TrainingSpec MakeSpec() const
    {
        return MakeSharded(layers, MakeBlock(forward, backward, 0, 2 * gathered));
    }

    /// Reference 2, section 2: g + (L - 1) max(f, g) + f.
    uint64_t GetForward() const
    {
        return gathered + (layers - 1) * std::max(forward, gathered) + forward;
    }

    /// g + L b + r if b >= g + r, else max(2 g, g + b) + (L - 2)(g + r) + r + max(b, r); r = g.
    uint64_t GetBackward() const
    {
        const auto g = gathered;
        return backward >= 2 * g ? g + layers * backward + g
                                 : std::max(2 * g, g + backward) + (layers - 2) * 2 * g + g +
                                       std::max(backward, g);
    }
};

class ShardedParametersTest : public tests::WorkloadFixture
{
  protected:
    Time RunTraining(const TrainingSpec& spec)
    {
        PlanShelf shelf({}, 1);
        const auto end = Run(MakeTrainingWorkload(spec, shelf));
        m_plans = shelf.GetSize();
        return end;
    }

    ShardedBlocks DrawBlocks()
    {
        return {Draw(2, 10), Draw(1, 60), Draw(1, 120), Draw(1, 40)};
    }

    size_t m_plans{0};
};

TEST_F(ShardedParametersTest, RanksGatherOneBlockAhead)
{
    for (int round = 0; round < 60; ++round)
    {
        const auto of = DrawBlocks();
        EXPECT_EQ(RunTraining(of.MakeSpec()), MicroSeconds(of.GetForward() + of.GetBackward()))
            << of.layers << ' ' << of.forward << ' ' << of.backward << ' ' << of.gathered;
        EXPECT_EQ(m_plans, 2); // one plan for all gathers, one for all scatters
        Reset();
    }
}

// Each microbatch gathers for both passes and scatters: the next one gathers when that is done.
// GPipe has all forward passes first, in which nothing is scattered.
TEST_F(ShardedParametersTest, AccumulationGathersForEveryPass)
{
    for (int round = 0; round < 40; ++round)
    {
        const auto of = DrawBlocks();
        auto spec = of.MakeSpec();
        spec.schedule =
            round % 2 == 0 ? PipelineSchedule::GPipe : PipelineSchedule::OneForwardOneBackward;
        spec.pipeline.microbatches = static_cast<uint32_t>(Draw(1, 5));
        EXPECT_EQ(RunTraining(spec),
                  MicroSeconds(spec.pipeline.microbatches * (of.GetForward() + of.GetBackward())));
        Reset();
    }
}

// Gathered once: the first forward pass follows its gathers, the others wait for none; of the last
// backward pass gradients are scattered block by block, max(L b + r, b + L r).
TEST_F(ShardedParametersTest, AccumulationMayGatherOnce)
{
    for (int round = 0; round < 40; ++round)
    {
        const auto of = DrawBlocks();
        auto spec = of.MakeSpec();
        spec.parameterGather = ParameterGather::Iteration;
        spec.pipeline.microbatches = static_cast<uint32_t>(Draw(1, 5));
        const auto r = of.gathered;
        const auto between =
            (spec.pipeline.microbatches - 1) * of.layers * (of.forward + of.backward);
        EXPECT_EQ(RunTraining(spec),
                  MicroSeconds(of.GetForward() + between +
                               std::max(of.layers * of.backward + r, of.backward + of.layers * r)));
        Reset();
    }
}

// All stages gather at the start, g; where blocks take no less than their gathers nothing more is
// exposed but the last scatter of the first stage: g + (m + p - 1) L (f + b) + r, L blocks a stage.
TEST_F(ShardedParametersTest, PipelinesThatGatherOnceExposeTheFirstAndTheLast)
{
    for (int round = 0; round < 40; ++round)
    {
        auto of = DrawBlocks();
        of.forward = std::max(of.forward, of.gathered);
        of.backward = std::max(of.backward, of.gathered);
        auto spec = of.MakeSpec();
        spec.parameterGather = ParameterGather::Iteration;
        spec.pipeline = {static_cast<uint32_t>(Draw(1, 4)), static_cast<uint32_t>(Draw(1, 6))};
        spec.blocks.resize(of.layers * spec.pipeline.stages, spec.blocks[0]);
        spec.schedule =
            round % 2 == 0 ? PipelineSchedule::GPipe : PipelineSchedule::OneForwardOneBackward;
        const auto passes = spec.pipeline.microbatches + spec.pipeline.stages - 1;
        EXPECT_EQ(RunTraining(spec),
                  MicroSeconds(of.gathered + passes * of.layers * (of.forward + of.backward) +
                               of.gathered));
        Reset();
    }
}

// Two stages of a block, one microbatch, gathered for each pass, g = 4, f = 1, b = 2: stage 0
// gathers and computes until 5, stage 1 gathers from 0 and computes until 6; stage 0 gathers again
// until 9, stage 1 until 10 and computes until 12; then stage 0 until 14 and scatters until 18.
TEST_F(ShardedParametersTest, StagesGatherWhileTheyWait)
{
    auto spec = ShardedBlocks{2, 1, 2, 4}.MakeSpec();
    spec.pipeline.stages = 2;
    EXPECT_EQ(RunTraining(spec), MicroSeconds(18));
}

// Blocks that are gathered as one take what one block of both would.
TEST_F(ShardedParametersTest, BlocksAreGatheredAsOne)
{
    for (int round = 0; round < 20; ++round)
    {
        const auto of = DrawBlocks();
        const auto first = Draw(0, of.forward);
        const auto last = Draw(0, of.backward);
        auto halves = of.MakeSpec();
        halves.blocks.clear();
        for (uint64_t layer = 0; layer < of.layers; ++layer)
        {
            halves.blocks.push_back(MakeBlock(first, last, 0, 2 * (of.gathered / 2)));
            halves.blocks.push_back(MakeBlock(of.forward - first,
                                              of.backward - last,
                                              0,
                                              2 * (of.gathered - of.gathered / 2)));
            halves.blocks.back().joinsPrevious = true;
        }
        EXPECT_EQ(RunTraining(halves), MicroSeconds(of.GetForward() + of.GetBackward()));
        EXPECT_EQ(m_plans, 2);
        Reset();
    }
}

/// Bytes that all ranks send, by what labels begin with.
std::map<std::string, uint64_t>
CountSent(const Workload& workload)
{
    std::map<std::string, uint64_t> sent;
    for (CommunicationId id = 0; id < workload.GetCommunications().size(); ++id)
    {
        const auto& label = workload.GetLabel(workload.GetCommunications()[id].label);
        sent[label.substr(0, label.find(' '))] +=
            ComputePlanStatistics(*workload.GetPlan(id)).totalBytes;
    }
    return sent;
}

// Of K bytes n ranks send (n - 1) K, gathered or scattered. K of all blocks are there for each
// tensor-parallel rank, and n are the data x context ranks; of experts each of the tensor x expert
// ranks has its own K, and n are what is left. Once an iteration, or for m microbatches twice
// gathered and once scattered.
TEST_F(ShardedParametersTest, HybridsMoveEveryParameter)
{
    for (int round = 0; round < 60; ++round)
    {
        auto spec = tests::DrawHybrid(m_random);
        for (auto& block : spec.blocks)
        {
            block.joinsPrevious = Draw(0, 1) == 0;
        }
        tests::Shard(spec);
        spec.parameterGather = round % 2 == 0 ? ParameterGather::Pass : ParameterGather::Iteration;
        uint64_t own = 0;
        uint64_t experts = 0;
        for (const auto& block : spec.blocks)
        {
            own += block.gradientBytes;
            experts += block.expertGradientBytes;
        }
        const auto n = uint64_t{spec.data} * spec.context;
        const auto all = own * spec.tensor * (n - 1) + experts * spec.tensor * (n - spec.expert);
        const uint64_t m =
            spec.parameterGather == ParameterGather::Pass ? spec.pipeline.microbatches : 1;
        const auto gathers = spec.parameterGather == ParameterGather::Pass ? 2 * m : m;
        RunTraining(spec);
        auto sent = CountSent(*m_workload);
        EXPECT_EQ(sent["parameters"], gathers * all);
        // Activations' gradients between stages have no block's name: a label of one word.
        const auto between = uint64_t{2} * spec.pipeline.microbatches *
                             (uint64_t{spec.pipeline.stages} * spec.pipeline.chunks - 1) *
                             spec.activationBytes * spec.tensor * n;
        const auto messages = spec.pipeline.stages == 1 ? 0 : between / 2;
        EXPECT_EQ(sent["gradients"], m * all + messages);
        Reset();
    }
}

} // namespace
} // namespace ns3::gradsync
