// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/training-layers.h"

#include "ns3/workload-builder.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace ns3::gradsync
{

namespace
{

uint64_t
DivideUp(uint64_t count, uint64_t parts)
{
    return (count + parts - 1) / parts;
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

} // namespace ns3::gradsync
