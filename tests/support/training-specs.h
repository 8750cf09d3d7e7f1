// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_SPECS_H
#define GRADSYNC_TRAINING_SPECS_H

#include "support/workload-fixture.h"

#include "ns3/task-log.h"
#include "ns3/training-workload.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace ns3::gradsync::tests
{

/// Times in microseconds.
inline ModelBlock
MakeBlock(uint64_t forward, uint64_t backward, uint64_t weights = 0, uint64_t gradientBytes = 0)
{
    ModelBlock block;
    block.name = "block";
    block.forwardPicoseconds = forward * MICROSECOND;
    block.backwardPicoseconds = backward * MICROSECOND;
    block.weightPicoseconds = weights * MICROSECOND;
    block.gradientBytes = gradientBytes;
    return block;
}

/// Ranks that gather parameters and scatter gradients, in place of any other exchange.
inline void
Shard(TrainingSpec& spec)
{
    spec.dataParallelism = DataParallelism::FullySharded;
    spec.gradientScheme = Choose("reduce-scatter");
    spec.parameterScheme = Choose("all-gather");
}

/// Equal blocks of two such ranks.
inline TrainingSpec
MakeSharded(uint64_t layers, const ModelBlock& block)
{
    TrainingSpec spec;
    spec.data = 2;
    spec.blocks.assign(layers, block);
    Shard(spec);
    return spec;
}

/// A pipeline of equal stages, a block each, without time between them.
inline TrainingSpec
MakePipeline(PipelineSchedule schedule, const PipelineShape& shape, const ModelBlock& block)
{
    TrainingSpec spec;
    spec.schedule = schedule;
    spec.pipeline = shape;
    spec.blocks.assign(size_t{shape.stages} * shape.chunks, block);
    return spec;
}

/// Data-parallel layers of one bucket each, which follow one another without a barrier.
struct OverlappingLayers
{
    uint64_t layers;
    uint64_t forward;
    uint64_t backward;
    uint64_t exchange; //!< K bytes among two ranks take K microseconds by ring: 2 (n-1)/n = 1
    uint32_t iterations;
};

inline TrainingSpec
MakeOverlapping(const OverlappingLayers& of, const GradientStreams& streams)
{
    TrainingSpec spec;
    spec.data = 2;
    spec.blocks.assign(of.layers, MakeBlock(of.forward, of.backward, 0, of.exchange));
    spec.buckets = {1, 1};
    spec.gradientScheme = Choose("ring");
    spec.streams = streams;
    spec.iterations = of.iterations;
    return spec;
}

/// When rank 0 begins the backward passes of the iterations; blocks are named "block".
inline std::vector<Time>
FindBackwardPasses(const Workload& workload, const TaskLog& log)
{
    std::vector<Time> begins(workload.GetIterationCount(), Time::Max());
    for (TaskId id = 0; id < workload.GetTasks().size(); ++id)
    {
        const auto& task = workload.GetTasks()[id];
        if (task.rank == 0 && workload.GetLabel(task.label) == "backward block")
        {
            begins[task.iteration] = std::min(begins[task.iteration], log.GetBegin(id));
        }
    }
    return begins;
}

/// Blocks with random times, bytes and collectives.
inline ModelBlock
DrawBlock(std::mt19937_64& random)
{
    const auto draw = [&random](uint64_t least, uint64_t most) {
        return std::uniform_int_distribution<uint64_t>(least, most)(random);
    };
    // One draw a statement: the order of those in one expression is the compiler's.
    ModelBlock block;
    block.name = "block";
    block.forwardPicoseconds = draw(1, 20) * MICROSECOND;
    block.backwardPicoseconds = draw(1, 20) * MICROSECOND;
    block.weightPicoseconds = draw(1, 9) * MICROSECOND;
    block.gradientBytes = 4 * draw(0, 25);
    block.expertGradientBytes = 4 * draw(0, 25);
    const auto drawSteps = [&draw](uint64_t most, uint64_t bytes, const char* scheme, auto group) {
        const auto steps = draw(0, most);
        return std::vector<BlockCollective>(steps, {Choose(scheme), bytes, group});
    };
    const auto tensorBytes = draw(1, 30);
    block.afterForward = drawSteps(2, tensorBytes, "ring", ParallelGroup::Tensor);
    block.afterBackward = drawSteps(2, tensorBytes, "ring", ParallelGroup::Tensor);
    // An all-to-all of two or three ranks divides its bytes.
    const auto tokenBytes = 60 * draw(1, 2);
    block.beforeForward = drawSteps(1, tokenBytes, "all-to-all", ParallelGroup::Expert);
    const auto contextBytes = draw(1, 30);
    block.beforeBackward = drawSteps(1, contextBytes, "all-gather", ParallelGroup::Context);
    const auto hasRing = draw(0, 1);
    block.ring.bytes = hasRing * draw(1, 30);
    block.ring.forwardPicoseconds = draw(1, 20) * MICROSECOND;
    block.ring.backwardPicoseconds = draw(1, 20) * MICROSECOND;
    block.ring.isRecomputed = draw(0, 1) == 0;
    return block;
}

/// Any shape of tensor, data, context, expert and pipeline parallelism, in any order of ranks.
inline TrainingSpec
DrawHybrid(std::mt19937_64& random)
{
    const auto draw = [&random](uint32_t least, uint32_t most) {
        return std::uniform_int_distribution<uint32_t>(least, most)(random);
    };
    TrainingSpec spec;
    spec.tensor = draw(1, 3);
    spec.data = draw(1, 3);
    spec.context = draw(1, 2);
    spec.expert = draw(0, 1) == 0 ? spec.context : spec.data;
    spec.order = {ParallelAxis::Tensor,
                  ParallelAxis::Context,
                  ParallelAxis::Expert,
                  ParallelAxis::Data};
    std::ranges::shuffle(spec.order, random);
    spec.order.push_back(ParallelAxis::Pipeline);
    const std::vector<PipelineSchedule> schedules{PipelineSchedule::GPipe,
                                                  PipelineSchedule::OneForwardOneBackward,
                                                  PipelineSchedule::Interleaved,
                                                  PipelineSchedule::ZeroBubbleH1};
    spec.schedule = schedules[draw(0, 3)];
    spec.pipeline.stages = draw(1, 4);
    spec.pipeline.microbatches = spec.pipeline.stages * draw(1, 3);
    spec.pipeline.chunks = spec.schedule == PipelineSchedule::Interleaved ? 2 : 1;
    for (auto left = spec.pipeline.stages * spec.pipeline.chunks + draw(0, 4); left > 0; --left)
    {
        spec.blocks.push_back(DrawBlock(random));
    }
    spec.activationBytes = draw(0, 20);
    const auto isTied = draw(0, 1);
    spec.tied = {isTied * draw(1, 30), Choose("ring")};
    spec.gradientScheme = Choose("ring");
    spec.buckets = {draw(1, 60), draw(1, 120)};
    return spec;
}

/// Any way to exchange gradients.
inline void
DrawExchange(std::mt19937_64& random, TrainingSpec& spec)
{
    const auto draw = [&random](uint32_t least, uint32_t most) {
        return std::uniform_int_distribution<uint32_t>(least, most)(random);
    };
    spec.streams = {static_cast<StreamPolicy>(draw(0, 3)), draw(0, 40), draw(0, 30), draw(1, 3)};
    spec.slices = draw(1, 3);
    spec.iterations = draw(1, 3);
    spec.overlaps = draw(0, 3) != 0;
    spec.dataParallelism = static_cast<DataParallelism>(draw(0, 4));
    spec.parameterGather = static_cast<ParameterGather>(draw(0, 1));
    if (spec.dataParallelism != DataParallelism::AllReduce)
    {
        spec.gradientScheme = Choose("reduce-scatter");
        spec.parameterScheme = Choose("all-gather");
        spec.outerScheme = Choose("ring");
        spec.innerRanks = draw(0, 1) == 0 ? 1 : 1000; // groups of one, one group
    }
}

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_TRAINING_SPECS_H
