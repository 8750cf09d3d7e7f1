// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/float-tensor.h"

#include "ns3/quantisers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace ns3::gradsync
{

namespace
{

/// Blocks whose exponents are kept: more than any worker has under way.
constexpr size_t KEPT_EXPONENTS = 1 << 17;

} // namespace

FloatTensor::FloatTensor(uint16_t job, const Shape& shape, const Settings& settings)
    : GradientTensor(job, shape, settings.distribution),
      m_settings(settings)
{
}

int8_t
FloatTensor::GetExponent(uint32_t worker, uint64_t block) const
{
    int8_t exponent = 0;
    FindPacketExponents(GetGradient(worker, block), GetShape().valueCount, {&exponent, 1}, 1);
    return exponent;
}

int8_t
FloatTensor::GetLargestExponent(uint64_t block)
{
    const auto [found, isNew] = m_exponents.try_emplace(block, std::numeric_limits<int8_t>::min());
    const auto entry = found;
    if (isNew)
    {
        for (uint32_t worker = 0; worker < GetShape().workers; ++worker)
        {
            entry->second = std::max(entry->second, GetExponent(worker, block));
        }
    }
    const auto largest = entry->second;
    if (m_exponents.size() > KEPT_EXPONENTS)
    {
        m_exponents.erase(m_exponents.begin());
    }
    return largest;
}

void
FloatTensor::Fill(uint32_t worker, uint64_t block, std::vector<int32_t>& values)
{
    const auto& shape = GetShape();
    const auto gradient = GetGradient(worker, block);
    values.resize(shape.valueCount);
    if (HasExponents())
    {
        const auto exponent = GetLargestExponent(block);
        EncodeWithExponents(gradient, shape.valueCount, shape.workers, {&exponent, 1}, values, 1);
    }
    else
    {
        EncodeFixedPoints(gradient, m_settings.factor, values, 1);
    }
}

bool
FloatTensor::IsBeyondRange(uint32_t worker, uint64_t block) const
{
    return std::isfinite(m_settings.mostSent) &&
           std::ranges::any_of(GetGradient(worker, block), [this](float value) {
               return std::abs(value) > m_settings.mostSent;
           });
}

bool
FloatTensor::CheckFloats(uint64_t block, std::span<const int32_t> values) const
{
    return std::ranges::equal(values, AddGradients(block), [](int32_t bits, double sum) {
        // The order in which they come may turn the last bit.
        const auto value = std::bit_cast<float>(bits);
        const auto infinity = std::numeric_limits<float>::infinity();
        return value == static_cast<float>(sum) ||
               (std::nextafter(value, -infinity) <= sum && sum <= std::nextafter(value, infinity));
    });
}

std::vector<float>
FloatTensor::Decode(uint64_t block, std::span<const int32_t> values)
{
    const auto& shape = GetShape();
    std::vector<float> decoded(values.size());
    if (HasExponents())
    {
        const auto exponent = GetLargestExponent(block);
        DecodeWithExponents(values, shape.valueCount, shape.workers, {&exponent, 1}, decoded, 1);
    }
    else
    {
        DecodeFixedPoints(values, m_settings.factor, decoded, 1);
    }
    return decoded;
}

void
FloatTensor::Measure(uint64_t block,
                     std::span<const int32_t> values,
                     bool isFloat,
                     AggregationStatistics& statistics)
{
    AddErrors(AddGradients(block),
              isFloat ? ViewFloats(values) : Decode(block, values),
              statistics);
}

} // namespace ns3::gradsync
