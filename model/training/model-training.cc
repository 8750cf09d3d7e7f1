// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/model-training.h"

#include "ns3/nearest-name.h"
#include "ns3/training-layers.h"
#include "ns3/workload-builder.h"

#include <fmt/format.h>
#include <string>

namespace ns3::gradsync
{

namespace
{

constexpr double BACKWARD_FLOPS = 2.0; // for one of the forward pass: to the input, to the weights

const CollectiveSchemes&
GetSchemes(const ModelTraining& training, ParallelGroup group)
{
    return training.schemes[static_cast<size_t>(group)];
}

/// Where tensor-parallel ranks each got a part of what they share, they gather it.
void
GatherBetweenStages(const ModelTraining& training, const TrainingLayers& layers, TrainingSpec& spec)
{
    if (training.degrees.pipeline == 1 || training.degrees.tensor == 1 || training.sequenceParallel)
    {
        return;
    }
    const auto gather = layers.AllGather(ParallelGroup::Tensor, layers.GetActivationBytes());
    const auto& first = layers.GetFirstLayers();
    for (size_t part = 1; part + 1 < first.size(); ++part)
    {
        auto& begin = spec.blocks[first[part]].beforeForward;
        begin.insert(begin.begin(), gather);
        auto& end = spec.blocks[first[part] - 1].beforeBackward;
        end.insert(end.begin(), gather);
    }
}

/// Adds what a layer takes to the block that is gathered as one with it.
void
Join(ModelBlock& block, const ModelBlock& next)
{
    block.forwardPicoseconds += next.forwardPicoseconds;
    block.backwardPicoseconds += next.backwardPicoseconds;
    block.gradientBytes += next.gradientBytes;
    block.name = block.gradientBytes == next.gradientBytes ? next.name : block.name;
}

} // namespace

TrainingPrecision
MakePrecision(const std::string& datatype)
{
    if (datatype == "fp32" || datatype == "tf32")
    {
        return {datatype, 4, 4, 8};
    }
    if (datatype == "bf16" || datatype == "fp16" || datatype == "fp8")
    {
        return {datatype, 2, 4, 12};
    }
    throw WorkloadError(fmt::format("{} is no datatype of training: fp32, tf32, fp16, bf16, fp8",
                                    QuoteName(datatype)));
}

TrainingSpec
MakeTrainingSpec(const ModelTraining& training)
{
    if (training.zeroStage > 2)
    {
        throw WorkloadError("ZeRO-3 is of data-parallel ranks alone");
    }
    const TrainingLayers layers(training);
    TrainingSpec spec;
    spec.tensor = training.degrees.tensor;
    spec.context = training.degrees.context;
    spec.expert = training.degrees.expert;
    spec.expertTensor = training.degrees.expertTensor;
    spec.data = training.degrees.data;
    spec.order = training.degrees.order;
    spec.schedule = training.schedule;
    spec.pipeline = {training.degrees.pipeline, training.microbatches, training.chunks};
    for (const auto& layer : training.model.layers)
    {
        spec.blocks.push_back(layers.MakeBlock(layer));
    }
    spec.firstBlocks = layers.GetFirstLayers();
    spec.firstBlocks.pop_back();
    GatherBetweenStages(training, layers, spec);
    const auto& schemes = GetSchemes(training, ParallelGroup::Data);
    const bool isSharded = training.zeroStage > 0;
    spec.dataParallelism =
        isSharded ? DataParallelism::ShardedOptimizer : DataParallelism::AllReduce;
    spec.gradientScheme = isSharded ? schemes.reduceScatter : schemes.allReduce;
    spec.parameterScheme = schemes.allGather;
    spec.parameterShare =
        static_cast<double>(training.precision.elementBytes) / training.precision.gradientBytes;
    spec.buckets = training.buckets;
    spec.overlaps = training.overlaps;
    return spec;
}

FullyShardedSpec
MakeFullyShardedSpec(const ModelTraining& training)
{
    const TrainingLayers layers(training);
    const auto& degrees = training.degrees;
    if (uint64_t{degrees.tensor} * degrees.context * degrees.expert * degrees.pipeline > 1 ||
        training.chunks > 1 || training.microbatches > 1)
    {
        throw WorkloadError("ZeRO-3 is of data-parallel ranks alone, with one microbatch");
    }
    FullyShardedSpec spec;
    spec.ranks = degrees.data;
    for (const auto& layer : training.model.layers)
    {
        auto block = layers.MakeBlock(layer);
        // As they are gathered: parameters, experts' too.
        block.gradientBytes =
            training.precision.elementBytes *
            (layers.CountOwnParameters(layer) + layers.CountOwnExpertParameters(layer));
        const bool begins = layer.isCut || layer.role == LayerRole::Output;
        if (spec.blocks.empty() ||
            (begins && block.gradientBytes > 0 && spec.blocks.back().gradientBytes > 0))
        {
            spec.blocks.push_back(block);
        }
        else
        {
            Join(spec.blocks.back(), block);
        }
    }
    if (spec.blocks.back().gradientBytes == 0)
    {
        throw WorkloadError(fmt::format("{} has no parameters to gather", training.model.name));
    }
    const auto& schemes = GetSchemes(training, ParallelGroup::Data);
    spec.gatherScheme = schemes.allGather;
    spec.reduceScheme = schemes.reduceScatter;
    return spec;
}

TrainingWork
CountWork(const ModelTraining& training)
{
    TrainingWork work;
    work.samples =
        uint64_t{training.microbatchSize} * training.microbatches * training.degrees.data;
    work.flops = (1.0 + BACKWARD_FLOPS) * CountForwardFlops(training.model) *
                 static_cast<double>(work.samples);
    work.tokens =
        training.model.transformer ? work.samples * training.model.transformer->sequence : 0;
    return work;
}

} // namespace ns3::gradsync
