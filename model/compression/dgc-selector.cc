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
/// Mixes all bits of a number (the finaliser of SplitMix64, Steele et al., OOPSLA'14).
uint64_t
Hash(uint64_t number)
{
    uint64_t mixed = number + 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31);
}
} // namespace

DgcSample
MakeDgcSample(uint64_t elements, double sampleRate, uint64_t iteration)
{
    const auto wanted = static_cast<uint64_t>(1.0 / sampleRate);
    const uint64_t stride = std::clamp<uint64_t>(wanted, 1, std::max<uint64_t>(elements, 1));
    const uint64_t start = Hash(iteration) % stride;
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
DgcSelector::FindThresholdKey(std::span<const float> gradient, float clip, double density) const
{
    const auto sample = MakeDgcSample(gradient.size(), m_spec.sampleRate, m_iteration);
    const auto momentum = static_cast<float>(m_spec.momentum);
    std::vector<float> values;
    values.reserve(sample.count);
    for (uint64_t i = sample.start; i < gradient.size(); i += sample.stride)
    {
        values.push_back(
            StepDgc(gradient[i], clip, {m_velocity[i], m_accumulated[i]}, momentum).accumulated);
    }
    const auto cut = FindTopKCut(values, CountSelected(density, values.size()), 1);
    return std::max(cut.key, 1U);
}

uint64_t
DgcSelector::Select(std::span<const float> gradient,
                    std::span<uint32_t> indices,
                    std::span<float> selected)
{
    const float clip =
        GetClipFactor(m_spec.clipNorm, m_spec.clipNorm > 0.0 ? ComputeNorm(gradient) : 0.0);
    const double density = GetDensity(m_spec, m_iteration);
    const uint32_t threshold = FindThresholdKey(gradient, clip, density);
    const uint64_t capacity = CountSelected(density, gradient.size());
    const auto momentum = static_cast<float>(m_spec.momentum);
    uint64_t count = 0;
    for (uint64_t i = 0; i < gradient.size(); ++i)
    {
        const auto state = StepDgc(gradient[i], clip, {m_velocity[i], m_accumulated[i]}, momentum);
        const bool isSent = MagnitudeKey(state.accumulated) >= threshold && count < capacity;
        m_velocity[i] = isSent ? 0.0F : state.velocity;
        m_accumulated[i] = isSent ? 0.0F : state.accumulated;
        if (isSent)
        {
            indices[count] = static_cast<uint32_t>(i);
            selected[count++] = state.accumulated;
        }
    }
    ++m_iteration;
    return count;
}

} // namespace ns3::gradsync
