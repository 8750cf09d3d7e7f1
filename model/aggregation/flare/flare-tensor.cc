// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/flare-tensor.h"

#include "ns3/float-sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

void
FlareTensor::SetOrder(SumOrder order)
{
    m_order = std::move(order);
    m_first.clear();
}

void
FlareTensor::Fill(uint32_t worker, uint64_t block, std::vector<int32_t>& values)
{
    FillFloats(worker, block, values);
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
                AddFloats(sums[i], sums[i + 1]);
            }
            above.push_back(std::move(sums[i]));
        }
        sums = std::move(above);
    }
    return sums.front();
}

/// Of n floats a sum in any order is off by at most g times the sum of their magnitudes, g = (n -
/// 1) u / (1 - (n - 1) u), u = 2^-24 (Higham, "Accuracy and stability of numerical
/// algorithms", 4.2); that in float64 likewise.
bool
FlareTensor::MayBe(uint64_t block, std::span<const int32_t> values) const
{
    const auto workers = GetShape().workers;
    std::vector<double> sums(GetShape().valueCount);
    std::vector<double> magnitudes(sums.size());
    for (uint32_t worker = 0; worker < workers; ++worker)
    {
        const auto gradient = GetGradient(worker, block);
        for (size_t i = 0; i < sums.size(); ++i)
        {
            sums[i] += gradient[i];
            magnitudes[i] += std::abs(gradient[i]);
        }
    }
    const double steps = workers - 1;
    const double most = steps * 0x1p-24 / (1 - steps * 0x1p-24) + 2 * steps * 0x1p-53;
    for (size_t i = 0; i < sums.size(); ++i)
    {
        if (!(std::abs(std::bit_cast<float>(values[i]) - sums[i]) <= most * magnitudes[i]))
        {
            return false;
        }
    }
    return true;
}

SumVerdict
FlareTensor::Judge(uint64_t block, std::span<const int32_t> values)
{
    const bool isRight = m_order.children.empty()
                             ? MayBe(block, values)
                             : std::ranges::equal(values, AddInOrder(m_order, block));
    return isRight ? SumVerdict::Exact : SumVerdict::Wrong;
}

SumVerdict
FlareTensor::Check(uint64_t block, std::span<const int32_t> values, bool /* hasOverflowed */)
{
    if (values.size() != GetShape().valueCount)
    {
        return SumVerdict::Wrong;
    }
    const auto found = m_first.find(block);
    if (found == m_first.end())
    {
        const auto verdict = Judge(block, values);
        m_first[block] = {{values.begin(), values.end()}, verdict, GetShape().workers - 1};
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
    if (values.size() != GetShape().valueCount)
    {
        return fmt::format("packet {} has {} values", block, values.size());
    }
    if (!m_order.children.empty())
    {
        const auto expected = AddInOrder(m_order, block);
        const auto [value, sum] = std::ranges::mismatch(values, expected);
        if (value != values.end())
        {
            return fmt::format("value {} of packet {} is {:a}, the sum in its order is {:a}",
                               value - values.begin(),
                               block,
                               std::bit_cast<float>(*value),
                               std::bit_cast<float>(*sum));
        }
    }
    return MayBe(block, values)
               ? fmt::format("packet {} is not that of the other workers", block)
               : fmt::format("packet {} is no sum of the gradients in any order", block);
}

void
FlareTensor::Measure(uint64_t block,
                     std::span<const int32_t> values,
                     bool /* isFloat */,
                     AggregationStatistics& statistics)
{
    AddErrors(block, ViewFloats(values), statistics);
}

} // namespace ns3::gradsync
