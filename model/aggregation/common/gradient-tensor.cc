// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/gradient-tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <random>

namespace ns3::gradsync
{

GradientTensor::GradientTensor(uint16_t job,
                               const Shape& shape,
                               const GradientDistribution& distribution)
    : AggregationTensor(shape),
      m_seed(GetSeed(job)),
      m_distribution(distribution)
{
}

std::vector<float>
GradientTensor::GetGradient(uint32_t worker, uint64_t block) const
{
    std::mt19937_64 random(Mix(Mix(m_seed + worker) + block));
    std::vector<float> gradient(GetShape().valueCount);
    std::ranges::generate(gradient,
                          [&] { return static_cast<float>(m_distribution.draw(random)); });
    return gradient;
}

void
GradientTensor::FillFloats(uint32_t worker, uint64_t block, std::vector<int32_t>& values) const
{
    const auto gradient = GetGradient(worker, block);
    values.resize(gradient.size());
    std::ranges::transform(gradient, values.begin(), [](float value) {
        return std::bit_cast<int32_t>(value);
    });
}

double
GradientTensor::GetLargestSumError() const
{
    const double steps = GetShape().workers - 1;
    return steps * 0x1p-24 / (1 - steps * 0x1p-24) + 2 * steps * 0x1p-53;
}

std::vector<double>
GradientTensor::AddGradients(uint64_t block) const
{
    std::vector<double> sums(GetShape().valueCount);
    for (uint32_t worker = 0; worker < GetShape().workers; ++worker)
    {
        const auto gradient = GetGradient(worker, block);
        std::ranges::transform(sums, gradient, sums.begin(), std::plus<double>());
    }
    return sums;
}

void
GradientTensor::AddErrors(std::span<const double> exact,
                          std::span<const float> sums,
                          AggregationStatistics& statistics)
{
    for (size_t i = 0; i < exact.size(); ++i)
    {
        const double error = std::abs(sums[i] - exact[i]);
        statistics.largestSumError = std::max(statistics.largestSumError, error);
        statistics.squaredSumErrors += error * error;
        statistics.squaredSums += exact[i] * exact[i];
    }
}

std::vector<float>
ViewFloats(std::span<const int32_t> bits)
{
    std::vector<float> floats(bits.size());
    std::ranges::transform(bits, floats.begin(), [](int32_t value) {
        return std::bit_cast<float>(value);
    });
    return floats;
}

} // namespace ns3::gradsync
