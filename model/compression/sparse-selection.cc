// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/sparse-selection.h"

#include "ns3/parallel-ranges.h"
#include "ns3/sparsifier-arithmetic.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace ns3::gradsync
{

namespace
{

using Histogram = std::array<uint64_t, RADIX_BINS>;

/// Narrows a cut by one digit: the bin that holds the `wanted`-th largest.
/// \returns the bin; `wanted` becomes what is still missing inside it
uint32_t
FindCutBin(const Histogram& histogram, uint64_t& wanted)
{
    uint32_t bin = RADIX_BINS - 1;
    while (bin > 0 && histogram[bin] < wanted)
    {
        wanted -= histogram[bin];
        --bin;
    }
    return bin;
}

Histogram
Add(const std::vector<Histogram>& parts)
{
    Histogram sum{};
    for (const auto& part : parts)
    {
        for (uint32_t bin = 0; bin < RADIX_BINS; ++bin)
        {
            sum[bin] += part[bin];
        }
    }
    return sum;
}

/// Elements of a range that a cut looks at.
struct RangeCount
{
    uint64_t above{0};
    uint64_t equal{0};
};

/// Writes elements above `cut.key`, and the first `cut.ties` equal to it.
class CutWriter
{
  public:
    CutWriter(std::span<const float> values,
              const TopKCut& cut,
              std::span<uint32_t> indices,
              std::span<float> selected)
        : m_values(values),
          m_cut(cut),
          m_indices(indices),
          m_selected(selected)
    {
    }

    RangeCount Count(const ElementRange& range) const
    {
        RangeCount count;
        for (uint64_t i = range.begin; i < range.end; ++i)
        {
            const uint32_t key = MagnitudeKey(m_values[i]);
            count.above += key > m_cut.key ? 1 : 0;
            count.equal += key == m_cut.key ? 1 : 0;
        }
        return count;
    }

    /// \param before what the ranges before hold \returns how many were written
    uint64_t Write(const ElementRange& range, const RangeCount& before) const
    {
        uint64_t ties = before.equal;
        const uint64_t first = before.above + std::min(before.equal, m_cut.ties);
        uint64_t position = first;
        for (uint64_t i = range.begin; i < range.end && position < m_cut.selected; ++i)
        {
            const uint32_t key = MagnitudeKey(m_values[i]);
            if (key > m_cut.key || (key == m_cut.key && ties++ < m_cut.ties))
            {
                m_indices[position] = static_cast<uint32_t>(i);
                m_selected[position] = m_values[i];
                ++position;
            }
        }
        return position - first;
    }

    /// \returns how many were written
    uint64_t WriteAll(uint32_t threads) const
    {
        const auto ranges = CutRanges(m_values.size(), 1, threads);
        std::vector<RangeCount> counts(ranges.size());
        if (ranges.size() > 1)
        {
            ForEachRange(ranges,
                         [&](const ElementRange& range) { counts[range.index] = Count(range); });
        }
        RangeCount before;
        for (auto& count : counts)
        {
            const RangeCount own = count;
            count = before;
            before.above += own.above;
            before.equal += own.equal;
        }
        std::vector<uint64_t> written(ranges.size());
        ForEachRange(ranges, [&](const ElementRange& range) {
            written[range.index] = Write(range, counts[range.index]);
        });
        return std::accumulate(written.begin(), written.end(), uint64_t{0});
    }

  private:
    std::span<const float> m_values;
    TopKCut m_cut;
    std::span<uint32_t> m_indices;
    std::span<float> m_selected;
};

/// Histogram of the leading digit of all elements.
Histogram
CountLeadingDigits(std::span<const float> values, const std::vector<ElementRange>& ranges)
{
    std::vector<Histogram> parts(ranges.size(), Histogram{});
    ForEachRange(ranges, [&](const ElementRange& range) {
        auto& part = parts[range.index];
        for (uint64_t i = range.begin; i < range.end; ++i)
        {
            ++part[GetRadixDigit(MagnitudeKey(values[i]), 0)];
        }
    });
    return Add(parts);
}

/// Keys of the elements with this leading digit; their order does not matter.
std::vector<uint32_t>
CollectKeys(std::span<const float> values, const std::vector<ElementRange>& ranges, uint32_t digit)
{
    std::vector<std::vector<uint32_t>> parts(ranges.size());
    ForEachRange(ranges, [&](const ElementRange& range) {
        for (uint64_t i = range.begin; i < range.end; ++i)
        {
            const uint32_t key = MagnitudeKey(values[i]);
            if (GetRadixDigit(key, 0) == digit)
            {
                parts[range.index].push_back(key);
            }
        }
    });
    std::vector<uint32_t> keys;
    for (const auto& part : parts)
    {
        keys.insert(keys.end(), part.begin(), part.end());
    }
    return keys;
}

} // namespace

TopKCut
FindTopKCut(std::span<const float> values, uint64_t k, uint32_t threads)
{
    TopKCut cut;
    cut.selected = std::min<uint64_t>(k, values.size());
    if (cut.selected == 0)
    {
        cut.key = ~FLOAT_SIGN;
        return cut;
    }
    const auto ranges = CutRanges(values.size(), 1, threads);
    uint64_t wanted = cut.selected;
    uint32_t bin = FindCutBin(CountLeadingDigits(values, ranges), wanted);
    cut.key = bin << RADIX_SHIFT[0];
    auto keys = CollectKeys(values, ranges, bin);
    for (uint32_t level = 1; level < RADIX_LEVELS; ++level)
    {
        Histogram histogram{};
        for (const uint32_t key : keys)
        {
            ++histogram[GetRadixDigit(key, level)];
        }
        bin = FindCutBin(histogram, wanted);
        cut.key |= bin << RADIX_SHIFT[level];
        std::erase_if(keys, [=](uint32_t key) { return GetRadixDigit(key, level) != bin; });
    }
    cut.ties = wanted;
    return cut;
}

uint64_t
SelectTopK(std::span<const float> values,
           uint64_t k,
           std::span<uint32_t> indices,
           std::span<float> selected,
           uint32_t threads)
{
    const auto cut = FindTopKCut(values, k, threads);
    CutWriter(values, cut, indices, selected).WriteAll(threads);
    return cut.selected;
}

uint64_t
SelectFromKey(std::span<const float> values,
              uint32_t key,
              std::span<uint32_t> indices,
              std::span<float> selected,
              uint32_t threads)
{
    // "At least key" is "above key" and any number of ties.
    TopKCut cut{key, values.size(), std::min(indices.size(), values.size())};
    return CutWriter(values, cut, indices, selected).WriteAll(threads);
}

void
ProposeRegionEnds(std::span<const uint32_t> indices, uint32_t elements, std::span<uint32_t> ends)
{
    for (size_t region = 0; region + 1 < ends.size(); ++region)
    {
        const size_t rank = indices.size() * (region + 1) / ends.size();
        ends[region] = indices.empty()
                           ? static_cast<uint32_t>(uint64_t{elements} * (region + 1) / ends.size())
                           : indices[rank];
    }
    if (!ends.empty())
    {
        ends.back() = elements;
    }
}

void
CountPerRegion(std::span<const uint32_t> indices,
               std::span<const uint32_t> ends,
               std::span<uint32_t> counts)
{
    auto begin = indices.begin();
    for (size_t region = 0; region < ends.size(); ++region)
    {
        const auto end = std::lower_bound(begin, indices.end(), ends[region]);
        counts[region] = static_cast<uint32_t>(end - begin);
        begin = end;
    }
}

} // namespace ns3::gradsync
