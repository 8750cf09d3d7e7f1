// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-tensor.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace ns3::gradsync
{

namespace
{

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a bijection that leaves no pattern.
uint64_t
Mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

constexpr int64_t LOWEST = std::numeric_limits<int32_t>::min();
constexpr int64_t HIGHEST = std::numeric_limits<int32_t>::max();

} // namespace

SlotTensor::SlotTensor(uint16_t job, const Settings& settings)
    : m_seed(Mix(job)),
      m_settings(settings),
      m_sums(settings.valueCount)
{
}

int32_t
SlotTensor::GetValue(uint32_t worker, uint64_t packet, uint32_t place) const
{
    const auto random = Mix(Mix(m_seed + worker) + packet * m_settings.valueCount + place);
    const auto range = int64_t{1} << m_settings.bits;
    return static_cast<int32_t>(static_cast<int64_t>(random % static_cast<uint64_t>(2 * range)) -
                                range);
}

void
SlotTensor::Fill(uint32_t worker, uint64_t packet, std::vector<int32_t>& values) const
{
    values.resize(m_settings.valueCount);
    for (uint32_t place = 0; place < m_settings.valueCount; ++place)
    {
        values[place] = GetValue(worker, packet, place);
    }
}

void
SlotTensor::AddUp(uint64_t packet)
{
    if (packet == m_packet)
    {
        return;
    }
    m_packet = packet;
    for (uint32_t place = 0; place < m_settings.valueCount; ++place)
    {
        Sum sum;
        for (uint32_t worker = 0; worker < m_settings.workers; ++worker)
        {
            const int64_t value = GetValue(worker, packet, place);
            sum.exact += value;
            sum.lowest += std::min<int64_t>(value, 0);
            sum.highest += std::max<int64_t>(value, 0);
        }
        m_sums[place] = sum;
    }
}

/// Whether a sum that overflows may become this value.
bool
SlotTensor::MayBe(const Sum& sum, int32_t value) const
{
    // Where a sum saturates depends on the order in which workers come.
    const bool mayLeave = sum.lowest < LOWEST || sum.highest > HIGHEST;
    return m_settings.saturates ? value == sum.exact || mayLeave
                                : value == static_cast<int32_t>(sum.exact);
}

SumVerdict
SlotTensor::Check(uint64_t packet, std::span<const int32_t> values, bool hasOverflowed)
{
    AddUp(packet);
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
SlotTensor::DescribeDifference(uint64_t packet, std::span<const int32_t> values)
{
    AddUp(packet);
    if (values.size() != m_sums.size())
    {
        return fmt::format("packet {} has {} values", packet, values.size());
    }
    const auto [value, sum] = std::ranges::mismatch(values, m_sums, {}, {}, &Sum::exact);
    return fmt::format("value {} of packet {} is {}, the sum is {}",
                       value - values.begin(),
                       packet,
                       *value,
                       sum->exact);
}

} // namespace ns3::gradsync
