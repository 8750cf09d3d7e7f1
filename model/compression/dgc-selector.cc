// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/dgc-selector.h"

#include "ns3/gradient-reductions.h"
#include "ns3/sparse-selection.h"
#include "ns3/sparsifier-arithmetic.h"

#include <algorithm>
#include <cmath>

namespace ns3::gradsync
{

namespace
{

/// Elements that are looked at as one for what reaches the threshold: few such blocks have any.
constexpr uint64_t LOOK_ELEMENTS = 64;

} // namespace

DgcSample
MakeDgcSample(uint64_t elements, double sampleRate, uint64_t iteration)
{
    const auto wanted = static_cast<uint64_t>(1.0 / sampleRate);
    const uint64_t stride = std::clamp<uint64_t>(wanted, 1, std::max<uint64_t>(elements, 1));
    const uint64_t start = HashNumber(iteration) % stride;
    return {start, stride, elements > start ? (elements - start + stride - 1) / stride : 0};
}

float
GetClipFactor(double clipNorm, double norm)
{
    return clipNorm > 0.0 && std::isfinite(norm) && norm > clipNorm
               ? static_cast<float>(clipNorm / norm)
               : 1.0F;
}

DgcSelector::DgcSelector(const CodecSpec& spec, uint64_t elements)
    : m_spec(spec),
      m_velocity(elements, 0.0F),
      m_accumulated(elements, 0.0F)
{
}

uint64_t
DgcSelector::GetCapacity() const
{
    return CountSelected(GetDensity(m_spec, 0), m_velocity.size());
}

uint32_t
DgcSelector::FindThresholdKey(std::span<const float> gradient,
                              float clip,
                              double density,
                              uint32_t threads) const
{
    const auto sample = MakeDgcSample(gradient.size(), m_spec.sampleRate, m_iteration);
    const auto momentum = static_cast<float>(m_spec.momentum);
    std::vector<float> values(sample.count);
    ForEachRange(sample.count, 1, threads, [&](const ElementRange& range) {
        for (uint64_t i = range.begin; i < range.end; ++i)
        {
            const uint64_t at = sample.start + i * sample.stride;
            const DgcState before{m_velocity[at], m_accumulated[at]};
            values[i] = StepDgc(gradient[at], clip, before, momentum).accumulated;
        }
    });
    const auto cut = FindTopKCut(values, CountSelected(density, values.size()), threads);
    return std::max(cut.key, 1U);
}

std::vector<uint32_t>
DgcSelector::Step(std::span<const float> gradient, const ElementRange& range, const Rule& rule)
{
    const auto momentum = static_cast<float>(m_spec.momentum);
    float* const velocity = m_velocity.data();
    float* const accumulated = m_accumulated.data();
    std::vector<uint32_t> reached;
    for (uint64_t begin = range.begin; begin < range.end; begin += LOOK_ELEMENTS)
    {
        const uint64_t end = std::min(begin + LOOK_ELEMENTS, range.end);
        int32_t largest = 0; // signed, as SSE2 compares; keys are below 2^31
        for (uint64_t i = begin; i < end; ++i)
        {
            const DgcState before{velocity[i], accumulated[i]};
            const auto state = StepDgc(gradient[i], rule.clip, before, momentum);
            velocity[i] = state.velocity;
            accumulated[i] = state.accumulated;
            const auto key = static_cast<int32_t>(MagnitudeKey(state.accumulated));
            largest = key > largest ? key : largest;
        }
        if (static_cast<uint32_t>(largest) < rule.threshold || reached.size() >= rule.capacity)
        {
            continue;
        }
        for (uint64_t i = begin; i < end; ++i)
        {
            if (MagnitudeKey(accumulated[i]) >= rule.threshold)
            {
                reached.push_back(static_cast<uint32_t>(i));
            }
        }
    }
    return reached;
}

void
DgcSelector::Send(std::span<const uint32_t> indices, std::span<float> selected, uint32_t threads)
{
    ForEachRange(indices.size(), 1, threads, [&](const ElementRange& range) {
        for (uint64_t i = range.begin; i < range.end; ++i)
        {
            selected[i] = m_accumulated[indices[i]];
            m_velocity[indices[i]] = 0.0F;
            m_accumulated[indices[i]] = 0.0F;
        }
    });
}

uint64_t
DgcSelector::Select(std::span<const float> gradient,
                    std::span<uint32_t> indices,
                    std::span<float> selected,
                    uint32_t threads)
{
    const bool isClipped = m_spec.clipNorm > 0.0;
    const double norm = isClipped ? ComputeNorm(gradient, threads) : 0.0;
    const float clip = GetClipFactor(m_spec.clipNorm, norm);
    const double density = GetDensity(m_spec, m_iteration);
    const Rule rule{clip,
                    FindThresholdKey(gradient, clip, density, threads),
                    CountSelected(density, gradient.size())};
    const auto ranges =
        CutRanges(gradient.size(), LOOK_ELEMENTS, ChooseThreads(gradient.size(), threads));
    std::vector<std::vector<uint32_t>> reached(ranges.size());
    ForEachRange(ranges, [&](const ElementRange& range) {
        reached[range.index] = Step(gradient, range, rule);
    });
    // The message fills up in order of indices, whatever the ranges are.
    uint64_t count = 0;
    for (const auto& part : reached)
    {
        const uint64_t fitting = std::min<uint64_t>(part.size(), rule.capacity - count);
        std::copy_n(part.begin(), fitting, indices.begin() + static_cast<std::ptrdiff_t>(count));
        count += fitting;
    }
    Send(indices.first(count), selected, threads);
    ++m_iteration;
    return count;
}

} // namespace ns3::gradsync
