// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/atp-switch.h"

#include "ns3/wrapping-sum.h"

#include <algorithm>
#include <cmath>

namespace ns3::gradsync
{

AtpSwitch::AtpSwitch(const Config& config)
    : m_config(config),
      m_aggregators(config.aggregators),
      m_values(config.computesSums ? size_t{config.aggregators} * config.valueCount : 0)
{
}

/// Packets of a window never meet in one aggregator: workers pick their hashes so.
uint32_t
AtpSwitch::GetIndex(const AtpHeader& header, size_t aggregators)
{
    const auto start = uint64_t{header.job} * 0x9E3779B97F4A7C15U >> 32;
    return static_cast<uint32_t>((start + header.sequence) % aggregators);
}

/// Spread evenly.
bool
AtpSwitch::IsBusy(uint32_t index) const
{
    return std::floor(m_config.busyShare * (index + 1.0)) > std::floor(m_config.busyShare * index);
}

/**
 * An owner that is more than a window behind has been answered, and only the answer was lost or a
 * packet came after it: a worker sends packet s when it has the answer to all up to s - window.
 */
bool
AtpSwitch::IsOver(const AtpHeader& owner, const AtpHeader& header) const
{
    return owner.job == header.job && header.sequence >= owner.sequence + m_config.window;
}

AtpVerdict
AtpSwitch::Contribute(uint32_t all, AtpHeader& header, std::vector<int32_t>& values)
{
    if (header.isFloat)
    {
        Free(header); // the answer to the integers was lost on its way here
        return AtpVerdict::Forward;
    }
    if (m_aggregators.empty() || IsBusy(GetIndex(header, m_aggregators.size())))
    {
        ++m_collisions;
        header.hasCollided = true;
        return AtpVerdict::Forward;
    }
    return ContributeAt(GetIndex(header, m_aggregators.size()), all, header, values);
}

AtpVerdict
AtpSwitch::ContributeAt(uint32_t index,
                        uint32_t all,
                        AtpHeader& header,
                        std::vector<int32_t>& values)
{
    auto& aggregator = m_aggregators[index];
    const auto& owner = aggregator.sum;
    if (aggregator.isUsed && owner.job == header.job && owner.sequence == header.sequence)
    {
        return Join(index, all, header, values);
    }
    if (header.isResend)
    {
        return AtpVerdict::Forward; // straight to the server: it wants no aggregator
    }
    if (aggregator.isUsed && !IsOver(owner, header))
    {
        ++m_collisions;
        header.hasCollided = true;
        return AtpVerdict::Forward;
    }
    Claim(index, header, values);
    return header.bitmap == all ? AtpVerdict::Complete : AtpVerdict::Held;
}

/// The aggregator is the packet's own.
AtpVerdict
AtpSwitch::Join(uint32_t index, uint32_t all, AtpHeader& header, std::vector<int32_t>& values)
{
    auto& aggregator = m_aggregators[index];
    const bool isIn = (aggregator.sum.bitmap & header.bitmap) != 0;
    if (!isIn)
    {
        Add(index, header, values);
    }
    if (header.isResend)
    {
        aggregator.isUsed = false;
        const bool isCongested = header.isCongested;
        Take(index, header, values);
        header.isResend = true;
        header.isCongested |= isCongested; // of a repetition, which was not added
        return AtpVerdict::Evict;
    }
    if (isIn)
    {
        return AtpVerdict::Dropped;
    }
    if (aggregator.sum.bitmap != all)
    {
        return AtpVerdict::Held;
    }
    Take(index, header, values);
    return AtpVerdict::Complete;
}

void
AtpSwitch::Claim(uint32_t index, const AtpHeader& header, std::span<const int32_t> values)
{
    m_aggregators[index] = {header, true};
    if (m_config.computesSums)
    {
        std::ranges::copy(values,
                          m_values.begin() +
                              static_cast<ptrdiff_t>(size_t{index} * m_config.valueCount));
    }
}

void
AtpSwitch::Add(uint32_t index, const AtpHeader& header, std::span<const int32_t> values)
{
    auto& sum = m_aggregators[index].sum;
    sum.bitmap |= header.bitmap;
    sum.isCongested |= header.isCongested;
    sum.hasCollided |= header.hasCollided;
    sum.hasOverflowed |= header.hasOverflowed;
    if (m_config.computesSums)
    {
        const std::span sums(&m_values[size_t{index} * m_config.valueCount], m_config.valueCount);
        if (AddWrapping(sums, values))
        {
            sum.hasOverflowed = true;
            ++m_overflows;
        }
    }
}

void
AtpSwitch::Take(uint32_t index, AtpHeader& header, std::vector<int32_t>& values) const
{
    header = m_aggregators[index].sum;
    if (m_config.computesSums)
    {
        const auto first =
            m_values.begin() + static_cast<ptrdiff_t>(size_t{index} * m_config.valueCount);
        values.assign(first, first + m_config.valueCount);
    }
}

void
AtpSwitch::Free(const AtpHeader& header)
{
    if (!m_aggregators.empty())
    {
        FreeAt(GetIndex(header, m_aggregators.size()), header);
    }
}

void
AtpSwitch::FreeAt(uint32_t index, const AtpHeader& header)
{
    auto& aggregator = m_aggregators[index];
    if (aggregator.sum.job == header.job && aggregator.sum.sequence == header.sequence)
    {
        aggregator.isUsed = false;
    }
}

void
AtpSwitch::Clear()
{
    for (auto& aggregator : m_aggregators)
    {
        aggregator.isUsed = false;
    }
}

uint32_t
AtpSwitch::GetUsed() const
{
    return static_cast<uint32_t>(
        std::ranges::count_if(m_aggregators, [](const auto& entry) { return entry.isUsed; }));
}

} // namespace ns3::gradsync
