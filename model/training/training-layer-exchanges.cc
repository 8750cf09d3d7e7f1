// SPDX-License-Identifier: GPL-2.0-only
// What is exchanged for a layer.
#include "ns3/training-layers.h"

#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Maximum, the logit of the target, and the sum of exponents of each token, in fp32
/// (Megatron-LM, _VocabParallelCrossEntropy).
constexpr uint32_t LOSS_EXCHANGES = 3;
constexpr uint32_t LOSS_BYTES = 4;

void
Append(std::vector<BlockCollective>& to, const std::vector<BlockCollective>& from)
{
    to.insert(to.end(), from.begin(), from.end());
}

} // namespace

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
TrainingLayers::AddContextExchanges(const ModelLayer& layer, ModelBlock& block) const
{
    const auto& shape = *m_training.model.transformer;
    // Keys and values of the whole sequence; ranks split their heads.
    const auto bytes = uint64_t{m_training.precision.elementBytes} * m_training.microbatchSize *
                       shape.sequence * 2 * shape.kvHeads * shape.headSize / m_tensor;
    if (m_training.ringAttention && m_context > 1)
    {
        SetRing(layer, bytes / m_context, block);
        return;
    }
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
    // ZeRO-3 scatters gradients as they are computed, and gathers parameters of as many bytes.
    const auto bytes = m_training.zeroStage == 3 ? m_training.precision.elementBytes
                                                 : m_training.precision.gradientBytes;
    block.gradientBytes = bytes * CountOwnParameters(layer);
    block.expertGradientBytes = bytes * CountOwnExpertParameters(layer);
    block.outputBytes = GetOutputBytes(layer);
    switch (layer.role)
    {
    case LayerRole::Plain:
        break;
    case LayerRole::Attention:
        AddTensorExchanges(layer, block);
        AddContextExchanges(layer, block);
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
