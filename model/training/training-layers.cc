// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-layers.h"

#include "ns3/workload-builder.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>

namespace ns3::gradsync
{

namespace
{

constexpr double PICOSECONDS = 1e12;
/// Maximum, the logit of the target, and the sum of exponents of each token, in fp32
/// (Megatron-LM, _VocabParallelCrossEntropy).
constexpr uint32_t LOSS_EXCHANGES = 3;
constexpr uint32_t LOSS_BYTES = 4;
constexpr double MOST_BYTES = 1ULL << 46; // that all layers keep of a microbatch
constexpr double MOST_SECONDS = 9e6;      // simulated time ends soon after

uint64_t
DivideUp(uint64_t count, uint64_t parts)
{
    return (count + parts - 1) / parts;
}

uint64_t
ToPicoseconds(double seconds)
{
    if (seconds > MOST_SECONDS)
    {
        throw WorkloadError(fmt::format("a layer takes {:.4g} s for a microbatch, more than "
                                        "simulated time has",
                                        seconds));
    }
    return static_cast<uint64_t>(std::llround(seconds * PICOSECONDS));
}

void
Append(std::vector<BlockCollective>& to, const std::vector<BlockCollective>& from)
{
    to.insert(to.end(), from.begin(), from.end());
}

} // namespace

TrainingLayers::TrainingLayers(const ModelTraining& training)
    : m_training(training),
      m_tensor(training.degrees.tensor),
      m_context(training.degrees.context),
      m_expertTensor(training.degrees.expertTensor == 0 ? training.degrees.tensor
                                                        : training.degrees.expertTensor)
{
    Check();
    m_firstLayers = Cut();
}

void
TrainingLayers::Check() const
{
    const RankLayout layout(m_training.degrees); // throws for degrees that cannot be
    CheckPipeline(m_training.schedule,
                  {m_training.degrees.pipeline, m_training.microbatches, m_training.chunks});
    if (m_training.microbatchSize == 0)
    {
        throw WorkloadError("a microbatch has at least one sample");
    }
    if (m_training.zeroStage > 3)
    {
        throw WorkloadError(fmt::format("ZeRO has stages 0 to 3, not {}", m_training.zeroStage));
    }
    const auto& model = m_training.model;
    CheckSizes();
    if (model.transformer)
    {
        CheckTransformer(*model.transformer);
    }
    else if (m_tensor > 1 || m_context > 1 || m_training.degrees.expert > 1)
    {
        throw WorkloadError(fmt::format("tensor, context and expert parallelism are of "
                                        "transformers; {} is none",
                                        model.name));
    }
    else if (m_training.recomputation != Recomputation::None)
    {
        throw WorkloadError(
            fmt::format("recomputation is of transformers; {} is none", model.name));
    }
}

void
TrainingLayers::CheckSizes() const
{
    double bytes = 0.0;
    for (const auto& layer : m_training.model.layers)
    {
        for (const auto& count :
             {layer.kept.split, layer.kept.shared, layer.kept.scores, layer.output})
        {
            bytes += static_cast<double>(count.elements) * m_training.precision.elementBytes +
                     static_cast<double>(count.bytes);
        }
    }
    if (bytes * m_training.microbatchSize > MOST_BYTES)
    {
        throw WorkloadError(fmt::format("a microbatch of {} samples has {:.4g} bytes of "
                                        "activations, expected {:.4g} at most",
                                        m_training.microbatchSize,
                                        bytes * m_training.microbatchSize,
                                        MOST_BYTES));
    }
}

void
TrainingLayers::CheckTransformer(const TransformerShape& shape) const
{
    const auto& name = m_training.model.name;
    const auto divide = [&name](uint64_t count, const char* what, uint64_t parts, const char* by) {
        if (count % parts != 0)
        {
            throw WorkloadError(fmt::format("the {} {} of {} do not divide by {} {}",
                                            count,
                                            what,
                                            name,
                                            parts,
                                            by));
        }
    };
    divide(shape.heads, "heads", m_tensor, "tensor ranks");
    divide(shape.kvHeads, "heads of keys and values", m_tensor, "tensor ranks");
    divide(shape.feedForward, "columns", m_tensor, "tensor ranks");
    divide(shape.sequence, "tokens", m_context, "context ranks");
    if (m_training.sequenceParallel)
    {
        divide(shape.sequence,
               "tokens",
               uint64_t{m_context} * m_tensor,
               "context and tensor ranks");
    }
    const auto expert = m_training.degrees.expert;
    if (expert > 1 && shape.experts == 0)
    {
        throw WorkloadError(fmt::format("{} has no experts to be parallel", name));
    }
    if (shape.experts > 0)
    {
        divide(shape.experts, "experts", expert, "expert ranks");
        divide(shape.feedForward, "columns", m_expertTensor, "tensor ranks of an expert");
        if (m_tensor > 1 && !m_training.sequenceParallel)
        {
            throw WorkloadError("experts on tensor-parallel ranks need sequence parallelism, or "
                                "each of these would send the same tokens");
        }
    }
}

std::vector<uint32_t>
TrainingLayers::Cut() const
{
    const auto& layers = m_training.model.layers;
    std::vector<uint32_t> cuts;
    for (uint32_t layer = 0; layer < layers.size(); ++layer)
    {
        if (layers[layer].isCut)
        {
            cuts.push_back(layer);
        }
    }
    const auto stages = m_training.degrees.pipeline;
    const auto parts = stages * m_training.chunks;
    if (cuts.size() < parts)
    {
        throw WorkloadError(
            fmt::format("a pipeline of {} stages with {} chunks each needs at least "
                        "as many layers; {} has {}",
                        stages,
                        m_training.chunks,
                        m_training.model.name,
                        cuts.size()));
    }
    auto first = m_training.firstLayers;
    if (!first.empty() &&
        (first.size() != parts || first.front() != 0 || first.back() >= cuts.size() ||
         !std::ranges::is_sorted(first, std::less_equal<>())))
    {
        throw WorkloadError(fmt::format("first layers ascend from 0 to less than {}, one for each "
                                        "chunk of each stage, {} in all",
                                        cuts.size(),
                                        parts));
    }
    for (uint64_t part = 0; first.size() < parts; ++part)
    {
        first.push_back(static_cast<uint32_t>(part * cuts.size() / parts));
    }
    cuts.front() = 0; // what comes before the first cut, as an embedding
    std::ranges::transform(first, first.begin(), [&cuts](uint32_t cut) { return cuts[cut]; });
    first.push_back(static_cast<uint32_t>(layers.size()));
    return first;
}

uint64_t
TrainingLayers::Split(uint64_t bytes) const
{
    return DivideUp(bytes, uint64_t{m_tensor} * m_context);
}

uint64_t
TrainingLayers::Share(uint64_t bytes) const
{
    return DivideUp(bytes, uint64_t{m_context} * (m_training.sequenceParallel ? m_tensor : 1));
}

bool
TrainingLayers::IsRecomputed(const ModelLayer& layer) const
{
    return m_training.recomputation == Recomputation::Full && layer.role != LayerRole::Embedding &&
           layer.role != LayerRole::Output;
}

uint64_t
TrainingLayers::GetActivationBytes() const
{
    const auto& shape = *m_training.model.transformer;
    return uint64_t{m_training.precision.elementBytes} * m_training.microbatchSize *
           (shape.sequence / m_context) * shape.hidden;
}

uint64_t
TrainingLayers::GetBytes(const ModelLayer& layer, const DataCount& count) const
{
    return DivideUp(count.GetBytes(m_training.precision.elementBytes) * m_training.microbatchSize,
                    layer.samples);
}

uint64_t
TrainingLayers::GetOutputBytes(const ModelLayer& layer) const
{
    // Tensor-parallel ranks send a part each (Narayanan et al., SC'21, section 4.1).
    return Split(GetBytes(layer, layer.output));
}

uint64_t
TrainingLayers::GetKeptBytes(const ModelLayer& layer) const
{
    if (IsRecomputed(layer))
    {
        // The input of the whole transformer layer, which its attention takes.
        return layer.role == LayerRole::Attention ? Share(GetBytes(layer, layer.output)) : 0;
    }
    const bool isSelective = m_training.recomputation == Recomputation::Selective;
    return Split(GetBytes(layer, layer.kept.split)) +
           (isSelective ? 0 : Split(GetBytes(layer, layer.kept.scores))) +
           Share(GetBytes(layer, layer.kept.shared));
}

uint64_t
TrainingLayers::GetRecomputedBytes(const ModelLayer& layer) const
{
    const auto scores = Split(GetBytes(layer, layer.kept.scores));
    if (IsRecomputed(layer))
    {
        return Split(GetBytes(layer, layer.kept.split)) + scores +
               Share(GetBytes(layer, layer.kept.shared));
    }
    return m_training.recomputation == Recomputation::Selective ? scores : 0;
}

uint64_t
TrainingLayers::CountOwnParameters(const ModelLayer& layer) const
{
    // The last stage has a copy of the embedding that it shares with the first.
    const auto tied = m_training.degrees.pipeline > 1 ? layer.tiedParameters : 0;
    return DivideUp(layer.parameters + tied, m_tensor) + layer.sharedParameters;
}

uint64_t
TrainingLayers::CountOwnExpertParameters(const ModelLayer& layer) const
{
    return DivideUp(layer.expertParameters, uint64_t{m_training.degrees.expert} * m_expertTensor);
}

TrainingLayers::Times
TrainingLayers::GetTimes(const ModelLayer& layer) const
{
    const auto& device = m_training.device;
    const auto& datatype = m_training.precision.datatype;
    const auto share = m_training.achievedShare > 0.0
                           ? m_training.achievedShare
                           : GetAchievedShare(device, datatype, m_training.model.kind);
    const auto samples = static_cast<double>(m_training.microbatchSize) / layer.samples;
    const auto rate = GetPeakFlops(device, datatype) * share * m_tensor * m_context;
    // Maps of every sample, and weights once.
    const auto bytes = GetBytes(layer, {layer.movedElements, 0}) +
                       layer.parameters * m_training.precision.elementBytes;
    return {layer.forwardFlops * samples / rate,
            layer.weightlessFlops * samples / rate,
            layer.role == LayerRole::Plain && layer.forwardFlops > 0.0
                ? static_cast<double>(bytes) / device.memoryBytesPerSecond
                : 0.0};
}

void
TrainingLayers::SetTimes(const ModelLayer& layer, ModelBlock& block) const
{
    double forward = 0.0;
    double toInput = 0.0;
    double toWeights = 0.0;
    if (layer.times)
    {
        const auto samples = m_training.microbatchSize / (PICOSECONDS * layer.samples);
        forward = static_cast<double>(layer.times->forwardPicoseconds) * samples;
        // To the input and to the weights go as many products.
        toInput = static_cast<double>(layer.times->backwardPicoseconds) * samples / 2.0;
        toWeights = toInput;
    }
    else
    {
        const auto [weights, weightless, moved] = GetTimes(layer);
        forward = std::max(weights + weightless, moved);
        toInput = std::max(weights + 2.0 * weightless, moved);
        toWeights = std::max(weights, moved);
        toInput += IsRecomputed(layer)                                    ? forward
                   : m_training.recomputation == Recomputation::Selective ? weightless
                                                                          : 0.0;
    }
    const bool isApart = m_training.schedule == PipelineSchedule::ZeroBubbleH1;
    block.forwardPicoseconds = ToPicoseconds(forward);
    block.backwardPicoseconds = ToPicoseconds(isApart ? toInput : toInput + toWeights);
    block.weightPicoseconds = isApart ? ToPicoseconds(toWeights) : 0;
}

const CollectiveSchemes&
TrainingLayers::GetSchemes(ParallelGroup group) const
{
    return m_training.schemes[static_cast<size_t>(group)];
}

BlockCollective
TrainingLayers::AllReduce(ParallelGroup group, uint64_t bytes) const
{
    return {GetSchemes(group).allReduce, bytes, group};
}

BlockCollective
TrainingLayers::AllGather(ParallelGroup group, uint64_t bytes) const
{
    return {GetSchemes(group).allGather, bytes, group};
}

BlockCollective
TrainingLayers::ReduceScatter(ParallelGroup group, uint64_t bytes) const
{
    return {GetSchemes(group).reduceScatter, bytes, group};
}

BlockCollective
TrainingLayers::AllToAll(ParallelGroup group, uint64_t bytes) const
{
    return {GetSchemes(group).allToAll, bytes, group};
}

void
TrainingLayers::AddTensorExchanges(const ModelLayer& layer, ModelBlock& block) const
{
    const auto sum = AllReduce(ParallelGroup::Tensor, GetActivationBytes());
    const auto gather = AllGather(ParallelGroup::Tensor, GetActivationBytes());
    const auto scatter = ReduceScatter(ParallelGroup::Tensor, GetActivationBytes());
    if (layer.role == LayerRole::Embedding)
    {
        block.afterForward = {m_training.sequenceParallel ? scatter : sum};
        if (m_training.sequenceParallel)
        {
            block.beforeBackward = {gather};
        }
    }
    else if (m_training.sequenceParallel)
    {
        block.beforeForward = {gather};
        block.afterForward = {scatter};
        // The gradient of what came out; and the input, of which only a part was kept.
        block.beforeBackward = {gather, gather};
        block.afterBackward = {scatter};
    }
    else
    {
        block.afterForward = {sum};
        block.afterBackward = {sum};
    }
}

void
TrainingLayers::AddOutputExchanges(ModelBlock& block) const
{
    const auto& shape = *m_training.model.transformer;
    if (m_training.sequenceParallel)
    {
        block.beforeForward = {AllGather(ParallelGroup::Tensor, GetActivationBytes())};
        block.beforeBackward = block.beforeForward;
        block.afterBackward = {ReduceScatter(ParallelGroup::Tensor, GetActivationBytes())};
    }
    else
    {
        block.afterBackward = {AllReduce(ParallelGroup::Tensor, GetActivationBytes())};
    }
    const auto tokens = uint64_t{m_training.microbatchSize} * shape.sequence / m_context;
    block.afterForward.assign(LOSS_EXCHANGES,
                              AllReduce(ParallelGroup::Tensor, LOSS_BYTES * tokens));
}

void
TrainingLayers::AddContextExchanges(ModelBlock& block) const
{
    const auto& shape = *m_training.model.transformer;
    // Keys and values of the whole sequence; ranks split their heads.
    const auto bytes = uint64_t{m_training.precision.elementBytes} * m_training.microbatchSize *
                       shape.sequence * 2 * shape.kvHeads * shape.headSize / m_tensor;
    block.beforeForward.push_back(AllGather(ParallelGroup::Context, bytes));
    block.beforeBackward.push_back(AllGather(ParallelGroup::Context, bytes));
    block.afterBackward.insert(block.afterBackward.begin(),
                               ReduceScatter(ParallelGroup::Context, bytes));
}

void
TrainingLayers::AddExpertExchanges(ModelBlock& block) const
{
    const auto& shape = *m_training.model.transformer;
    // Each rank sends copies of its own tokens; those that have parts of an expert gather them.
    const auto own = GetActivationBytes() / m_tensor * shape.expertsPerToken;
    const auto exchange = AllToAll(ParallelGroup::Expert, own);
    const auto gather = AllGather(ParallelGroup::ExpertTensor, own * m_expertTensor);
    const auto scatter = ReduceScatter(ParallelGroup::ExpertTensor, own * m_expertTensor);
    block.beforeForward = {exchange, gather};
    block.afterForward = {scatter, exchange};
    block.beforeBackward = {exchange, gather};
    block.afterBackward = {scatter, exchange};
}

ModelBlock
TrainingLayers::MakeBlock(const ModelLayer& layer) const
{
    ModelBlock block;
    block.name = layer.name;
    SetTimes(layer, block);
    const auto bytes = m_training.precision.gradientBytes;
    block.gradientBytes = bytes * CountOwnParameters(layer);
    block.expertGradientBytes = bytes * CountOwnExpertParameters(layer);
    block.outputBytes = GetOutputBytes(layer);
    switch (layer.role)
    {
    case LayerRole::Plain:
        break;
    case LayerRole::Attention:
        AddTensorExchanges(layer, block);
        AddContextExchanges(block);
        break;
    case LayerRole::Embedding:
    case LayerRole::FeedForward:
        AddTensorExchanges(layer, block);
        break;
    case LayerRole::Experts:
        AddExpertExchanges(block);
        break;
    case LayerRole::Output:
        AddOutputExchanges(block);
        break;
    }
    if (IsRecomputed(layer))
    {
        auto again = block.beforeForward;
        Append(again, block.afterForward);
        Append(again, block.beforeBackward);
        block.beforeBackward = std::move(again);
    }
    return block;
}

} // namespace ns3::gradsync
