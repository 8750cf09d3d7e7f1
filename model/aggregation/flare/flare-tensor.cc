// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/flare-tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <random>
#include <set>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Blocks whose first sums are kept at most: workers of other processes never check theirs.
constexpr size_t KEPT_BLOCKS = 1 << 14;

} // namespace

FlareTensor::FlareTensor(uint16_t job, const Shape& shape, const Settings& settings)
    : GradientTensor(job, shape, settings.distribution),
      m_seed(GetSeed(job)),
      m_settings(settings)
{
    for (uint32_t worker = 0; worker < shape.workers; ++worker)
    {
        m_anyOrder.children.push_back({.worker = worker});
    }
}

void
FlareTensor::SetOrder(SumOrder order)
{
    m_order = std::move(order);
    m_first.clear();
}

void
FlareTensor::Fill(uint32_t worker, uint64_t block, std::vector<int32_t>& values)
{
    if (m_settings.arithmetic.isSparse)
    {
        FillSparse(worker, block, values);
        return;
    }
    FillFloats(worker, block, values);
}

/// Places by Floyd's algorithm (Bentley and Floyd, CACM 1987), each set of them as likely.
void
FlareTensor::FillSparse(uint32_t worker, uint64_t block, std::vector<int32_t>& values) const
{
    std::mt19937_64 random(Mix(Mix(m_seed + worker) + block));
    std::set<uint32_t> places;
    const uint32_t count = GetShape().valueCount;
    for (uint32_t most = count - m_settings.entries; most < count; ++most)
    {
        const auto place = static_cast<uint32_t>(random() % (most + 1));
        places.insert(places.contains(place) ? most : place);
    }
    values.clear();
    const auto range = int64_t{1} << m_settings.valueBits;
    for (const auto place : places)
    {
        values.push_back(static_cast<int32_t>(place));
        values.push_back(
            m_settings.arithmetic.addsFloats
                ? std::bit_cast<int32_t>(static_cast<float>(m_settings.distribution.draw(random)))
                : static_cast<int32_t>(
                      static_cast<int64_t>(random() % static_cast<uint64_t>(2 * range)) - range));
    }
}

/// Neighbours become one, level by level; the last of an odd number stays as it is.
std::vector<int32_t>
FlareTensor::AddInOrder(const SumOrder& order, uint64_t block)
{
    std::vector<std::vector<int32_t>> sums;
    for (const auto& child : order.children)
    {
        sums.push_back(AddInOrder(child, block));
    }
    if (sums.empty())
    {
        Fill(order.worker, block, sums.emplace_back());
    }
    while (sums.size() > 1)
    {
        std::vector<std::vector<int32_t>> above;
        for (size_t i = 0; i < sums.size(); i += 2)
        {
            if (i + 1 < sums.size())
            {
                m_settings.arithmetic.Add(sums[i], sums[i + 1]);
            }
            above.push_back(std::move(sums[i]));
        }
        sums = std::move(above);
    }
    return sums.front();
}

/// Of the places of a block that some worker has; values are floats.
std::map<uint32_t, FlareTensor::Exact>
FlareTensor::AddExactly(uint64_t block)
{
    std::map<uint32_t, Exact> all;
    std::vector<int32_t> values;
    const auto stride = GetStride();
    for (uint32_t worker = 0; worker < GetShape().workers; ++worker)
    {
        Fill(worker, block, values);
        for (size_t i = 0; i < values.size(); i += stride)
        {
            const auto place =
                stride == 1 ? static_cast<uint32_t>(i) : static_cast<uint32_t>(values[i]);
            const auto value = std::bit_cast<float>(values[i + stride - 1]);
            auto& exact = all[place];
            exact.sum += value;
            exact.magnitudes += std::abs(value);
        }
    }
    return all;
}

bool
FlareTensor::MayBe(uint64_t block, std::span<const int32_t> values)
{
    const auto all = AddExactly(block);
    const auto stride = GetStride();
    if (values.size() != all.size() * stride)
    {
        return false;
    }
    const double most = GetLargestSumError();
    size_t i = 0;
    for (const auto& [place, exact] : all)
    {
        const auto value = std::bit_cast<float>(values[i + stride - 1]);
        if ((stride == 2 && static_cast<uint32_t>(values[i]) != place) ||
            !(std::abs(value - exact.sum) <= most * exact.magnitudes))
        {
            return false;
        }
        i += stride;
    }
    return true;
}

SumVerdict
FlareTensor::Judge(uint64_t block, std::span<const int32_t> values, bool hasOverflowed)
{
    const bool isOrdered = !m_order.children.empty() || !m_settings.arithmetic.addsFloats;
    if (isOrdered ? !std::ranges::equal(
                        values,
                        AddInOrder(m_order.children.empty() ? m_anyOrder : m_order, block))
                  : !MayBe(block, values))
    {
        return SumVerdict::Wrong;
    }
    return hasOverflowed ? SumVerdict::Overflowed : SumVerdict::Exact;
}

SumVerdict
FlareTensor::Check(uint64_t block, std::span<const int32_t> values, bool hasOverflowed)
{
    const auto found = m_first.find(block);
    if (found == m_first.end())
    {
        const auto verdict = Judge(block, values, hasOverflowed);
        m_first[block] = {{values.begin(), values.end()}, verdict, GetShape().workers - 1};
        if (m_first.size() > KEPT_BLOCKS)
        {
            m_first.erase(m_first.begin());
        }
        return verdict;
    }
    auto& first = found->second;
    const auto verdict = std::ranges::equal(values, first.bits) ? first.verdict : SumVerdict::Wrong;
    if (--first.others == 0)
    {
        m_first.erase(found);
    }
    return verdict;
}

std::string
FlareTensor::DescribeDifference(uint64_t block, std::span<const int32_t> values)
{
    const bool isOrdered = !m_order.children.empty() || !m_settings.arithmetic.addsFloats;
    const auto expected = AddInOrder(m_order.children.empty() ? m_anyOrder : m_order, block);
    if (values.size() != expected.size())
    {
        return fmt::format("packet {} has {} numbers, not {}",
                           block,
                           values.size(),
                           expected.size());
    }
    const auto [value, sum] = std::ranges::mismatch(values, expected);
    if (isOrdered && value != values.end())
    {
        return fmt::format("number {} of packet {} has the bits {:#010x}, those of the sum are "
                           "{:#010x}",
                           value - values.begin(),
                           block,
                           static_cast<uint32_t>(*value),
                           static_cast<uint32_t>(*sum));
    }
    return isOrdered || MayBe(block, values)
               ? fmt::format("packet {} is not that of the other workers", block)
               : fmt::format("packet {} is no sum of the gradients in any order", block);
}

void
FlareTensor::Measure(uint64_t block,
                     std::span<const int32_t> values,
                     bool /* isFloat */,
                     AggregationStatistics& statistics)
{
    if (!m_settings.arithmetic.addsFloats)
    {
        return;
    }
    const auto stride = GetStride();
    size_t i = stride - 1;
    for (const auto& [place, exact] : AddExactly(block))
    {
        const double error = std::abs(std::bit_cast<float>(values[i]) - exact.sum);
        statistics.largestSumError = std::max(statistics.largestSumError, error);
        statistics.squaredSumErrors += error * error;
        statistics.squaredSums += exact.sum * exact.sum;
        i += stride;
    }
}

} // namespace ns3::gradsync
