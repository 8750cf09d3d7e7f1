// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/added-float-tensor.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace ns3::gradsync
{

void
AddedFloatTensor::Fill(uint32_t worker, uint64_t block, std::vector<int32_t>& values)
{
    FillFloats(worker, block, values);
}

void
AddedFloatTensor::Aggregate(uint64_t block)
{
    if (m_block == block)
    {
        return;
    }
    m_block = block;
    m_sums.assign(GetShape().valueCount, 0.0);
    m_magnitudes = m_sums;
    for (uint32_t worker = 0; worker < GetShape().workers; ++worker)
    {
        const auto gradient = GetGradient(worker, block);
        for (size_t i = 0; i < gradient.size(); ++i)
        {
            m_sums[i] += gradient[i];
            m_magnitudes[i] += std::abs(gradient[i]);
        }
    }
}

/// \returns the first place whose float cannot be the sum, or how many there are
size_t
AddedFloatTensor::FindDifference(uint64_t block, std::span<const int32_t> values)
{
    Aggregate(block);
    const double most = GetLargestSumError();
    size_t place = 0;
    // Written so that NaN is a difference.
    while (place < m_sums.size() && std::abs(std::bit_cast<float>(values[place]) - m_sums[place]) <=
                                        most * m_magnitudes[place])
    {
        ++place;
    }
    return place;
}

SumVerdict
AddedFloatTensor::Check(uint64_t block, std::span<const int32_t> values, bool /* hasOverflowed */)
{
    const bool isRight =
        values.size() == GetShape().valueCount && FindDifference(block, values) == values.size();
    return isRight ? SumVerdict::Exact : SumVerdict::Wrong;
}

std::string
AddedFloatTensor::DescribeDifference(uint64_t block, std::span<const int32_t> values)
{
    if (values.size() != GetShape().valueCount)
    {
        return fmt::format("packet {} has {} values, not {}",
                           block,
                           values.size(),
                           GetShape().valueCount);
    }
    const auto place = FindDifference(block, values);
    if (place == values.size())
    {
        return fmt::format("packet {} is right", block);
    }
    return fmt::format("value {} of packet {} is {}, the sum in float64 {}",
                       place,
                       block,
                       std::bit_cast<float>(values[place]),
                       m_sums[place]);
}

void
AddedFloatTensor::Measure(uint64_t block,
                          std::span<const int32_t> values,
                          bool /* isFloat */,
                          AggregationStatistics& statistics)
{
    Aggregate(block);
    AddErrors(m_sums, ViewFloats(values), statistics);
}

} // namespace ns3::gradsync
