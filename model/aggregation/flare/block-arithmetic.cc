// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/block-arithmetic.h"

#include "ns3/float-sum.h"
#include "ns3/wrapping-sum.h"

#include <utility>

namespace ns3::gradsync
{

namespace
{

bool
AddValues(bool areFloats, std::span<int32_t> sums, std::span<const int32_t> values)
{
    if (!areFloats)
    {
        return AddWrapping(sums, values);
    }
    AddFloats(sums, values);
    return false;
}

} // namespace

bool
BlockArithmetic::Add(std::vector<int32_t>& sums, std::span<const int32_t> values) const
{
    if (!isSparse)
    {
        return AddValues(addsFloats, sums, values);
    }
    bool overflows = false;
    std::vector<int32_t> all;
    all.reserve(sums.size() + values.size());
    size_t own = 0;
    size_t other = 0;
    while (own < sums.size() || other < values.size())
    {
        const bool isOther =
            own == sums.size() || (other < values.size() && values[other] < sums[own]);
        const auto from =
            isOther ? values.subspan(other) : std::span<const int32_t>(sums).subspan(own);
        all.insert(all.end(), from.begin(), from.begin() + 2);
        if (!isOther && other < values.size() && values[other] == sums[own])
        {
            overflows |=
                AddValues(addsFloats, std::span(all).last(1), values.subspan(other + 1, 1));
            other += 2;
        }
        (isOther ? other : own) += 2;
    }
    sums = std::move(all);
    return overflows;
}

} // namespace ns3::gradsync
