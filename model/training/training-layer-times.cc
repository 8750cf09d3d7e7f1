// SPDX-License-Identifier: GPL-2.0-only
// How long a layer is computed.
#include "ns3/training-layers.h"
#include "ns3/workload-builder.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

constexpr double PICOSECONDS = 1e12;
constexpr double MOST_SECONDS = 9e6; // simulated time ends soon after

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

} // namespace

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

/// Attention to keys and values that go round: products of activations alone, in pieces.
void
TrainingLayers::SetRing(const ModelLayer& layer, uint64_t bytes, ModelBlock& block) const
{
    const auto weightless = GetTimes(layer).weightless;
    auto& ring = block.ring;
    ring.bytes = bytes;
    ring.forwardPicoseconds = ToPicoseconds(weightless);
    const bool isSelective = m_training.recomputation == Recomputation::Selective;
    ring.backwardPicoseconds = ToPicoseconds((isSelective ? 3.0 : 2.0) * weightless);
    ring.isRecomputed = IsRecomputed(layer);
    const auto again = ring.isRecomputed ? ring.forwardPicoseconds : 0;
    // Of sums that are rounded as a whole.
    block.forwardPicoseconds -= std::min(block.forwardPicoseconds, ring.forwardPicoseconds);
    block.backwardPicoseconds -=
        std::min(block.backwardPicoseconds, ring.backwardPicoseconds + again);
}

} // namespace ns3::gradsync
