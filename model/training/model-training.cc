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
GetGroupSchemes(const ModelTraining& training, ParallelGroup group)
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

/// What is gathered as one: a layer at which a stage may begin with all up to the next one, the
/// output, and what has no parameters with what comes before or behind it.
void
JoinBlocks(const ModelTraining& training, TrainingSpec& spec)
{
    uint64_t gathered = 0;
    for (size_t block = 0; block < spec.blocks.size(); ++block)
    {
        const auto& layer = training.model.layers[block];
        auto& of = spec.blocks[block];
        const auto bytes = of.gradientBytes + of.expertGradientBytes;
        const bool begins = (layer.isCut || layer.role == LayerRole::Output) && bytes > 0;
        of.joinsPrevious = block > 0 && !(begins && gathered > 0);
        gathered = of.joinsPrevious ? gathered + bytes : bytes;
    }
    if (gathered == 0)
    {
        throw WorkloadError(fmt::format("{} has no parameters to gather", training.model.name));
    }
}

/// The first stage and the last one both have the embedding where the output has its weights.
void
TieParameters(const ModelTraining& training, TrainingSpec& spec)
{
    uint64_t tied = 0;
    for (const auto& layer : training.model.layers)
    {
        tied += (layer.tiedParameters + spec.tensor - 1) / spec.tensor;
    }
    const auto bytes = training.zeroStage == 3 ? training.precision.elementBytes
                                               : training.precision.gradientBytes;
    spec.tied = {training.degrees.pipeline > 1 ? tied * bytes : 0,
                 GetGroupSchemes(training, ParallelGroup::Pipeline).allReduce};
}

/// How gradients are exchanged.
void
SetDataParallelism(const ModelTraining& training, TrainingSpec& spec)
{
    const auto& schemes = GetGroupSchemes(training, ParallelGroup::Data);
    const bool isSharded = training.zeroStage > 0;
    spec.dataParallelism = training.zeroStage == 3 ? DataParallelism::FullySharded
                           : isSharded             ? DataParallelism::ShardedOptimizer
                                                   : DataParallelism::AllReduce;
    spec.gradientScheme = isSharded ? schemes.reduceScatter : schemes.allReduce;
    spec.parameterScheme = schemes.allGather;
    spec.parameterGather = training.parameterGather;
    spec.parameterShare =
        static_cast<double>(training.precision.elementBytes) / training.precision.gradientBytes;
    spec.buckets = training.buckets;
    spec.overlaps = training.overlaps;
    if (training.zeroStage == 3)
    {
        JoinBlocks(training, spec);
    }
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
    TieParameters(training, spec);
    SetDataParallelism(training, spec);
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
