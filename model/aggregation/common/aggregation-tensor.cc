// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-tensor.h"

#include "ns3/rng-seed-manager.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace ns3::gradsync
{

namespace
{

constexpr int64_t LOWEST = std::numeric_limits<int32_t>::min();
constexpr int64_t HIGHEST = std::numeric_limits<int32_t>::max();

} // namespace

AggregationTensor::AggregationTensor(const Shape& shape)
    : m_shape(shape),
      m_sums(shape.valueCount)
{
}

uint64_t
AggregationTensor::Mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

uint64_t
AggregationTensor::GetSeed(uint16_t job)
{
    return Mix(job | uint64_t{RngSeedManager::GetSeed() - 1} << 16);
}

void
AggregationTensor::Aggregate(uint64_t block)
{
    if (block == m_block)
    {
        return;
    }
    m_block = block;
    m_sums.assign(m_shape.valueCount, {});
    std::vector<int32_t> values;
    for (uint32_t worker = 0; worker < m_shape.workers; ++worker)
    {
        Fill(worker, block, values);
        for (size_t place = 0; place < values.size(); ++place)
        {
            const int64_t value = values[place];
            auto& sum = m_sums[place];
            sum.exact += value;
            sum.lowest += std::min<int64_t>(value, 0);
            sum.highest += std::max<int64_t>(value, 0);
        }
    }
}

/// Whether a sum that overflows may become this value.
bool
AggregationTensor::MayBe(const Sum& sum, int32_t value) const
{
    // Where a sum saturates depends on the order in which workers come.
    const bool mayLeave = sum.lowest < LOWEST || sum.highest > HIGHEST;
    return m_shape.saturates ? value == sum.exact || mayLeave
                             : value == static_cast<int32_t>(sum.exact);
}

SumVerdict
AggregationTensor::Check(uint64_t block, std::span<const int32_t> values, bool hasOverflowed)
{
    Aggregate(block);
    if (std::ranges::equal(values, m_sums, {}, {}, &Sum::exact))
    {
        return SumVerdict::Exact;
    }
    const bool isExpected =
        hasOverflowed && std::ranges::equal(m_sums, values, [this](const auto& sum, auto value) {
            return MayBe(sum, value);
        });
    return isExpected ? SumVerdict::Overflowed : SumVerdict::Wrong;
}

std::string
AggregationTensor::DescribeDifference(uint64_t block, std::span<const int32_t> values)
{
    Aggregate(block);
    if (values.size() != m_sums.size())
    {
        return fmt::format("packet {} has {} values", block, values.size());
    }
    const auto [value, sum] = std::ranges::mismatch(values, m_sums, {}, {}, &Sum::exact);
    return fmt::format("value {} of packet {} is {}, the sum is {}",
                       value - values.begin(),
                       block,
                       *value,
                       sum->exact);
}

/// Integers have none.
void
AggregationTensor::Measure(uint64_t /* block */,
                           std::span<const int32_t> /* values */,
                           bool /* isFloat */,
                           AggregationStatistics& /* statistics */)
{
}

uint64_t
AggregationTensor::GetFingerprint(uint64_t block, std::span<const int32_t> values)
{
    auto print = Mix(block);
    for (const auto value : values)
    {
        print = Mix(print ^ static_cast<uint32_t>(value));
    }
    return print;
}

} // namespace ns3::gradsync
