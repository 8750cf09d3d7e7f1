// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/block-top-k.h"

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

/// Elements that are looked at as one for what is selected: few such groups have any.
constexpr size_t GROUP_ELEMENTS = 32;

/// Where the k largest of a block end.
struct BlockCut
{
    int32_t above; //!< everything from here on is selected
    int32_t tie;   //!< and so many of those with this key, the first ones:
    uint64_t ties;
};

/// Sixteen at once: four independent sums of four.
uint64_t
CountFrom(std::span<const int32_t> keys, int32_t limit)
{
    constexpr size_t LANES = 16;
    std::array<uint32_t, LANES> counts{};
    size_t begin = 0;
    for (; begin + LANES <= keys.size(); begin += LANES)
    {
        for (size_t lane = 0; lane < LANES; ++lane)
        {
            counts[lane] += keys[begin + lane] >= limit ? 1 : 0;
        }
    }
    uint64_t count = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
    for (; begin < keys.size(); ++begin)
    {
        count += keys[begin] >= limit ? 1 : 0;
    }
    return count;
}

/// Bit by bit the largest number that k keys reach: SSE2 does four keys at once, and few bits are
/// needed to tell the k-th from the next. As the kernel does it.
BlockCut
FindBlockCut(std::span<const int32_t> keys, uint64_t k)
{
    int32_t cut = 0;
    for (int32_t bit = 30; bit >= 0; --bit)
    {
        const int32_t tried = cut | 1 << bit;
        const uint64_t reached = CountFrom(keys, tried);
        if (reached == k)
        {
            return {tried, tried - 1, 0};
        }
        cut = reached > k ? tried : cut;
    }
    return {cut + 1, cut, k - CountFrom(keys, cut + 1)};
}

/// Where the selected elements of a block go.
struct BlockOutput
{
    uint16_t* offsets;
    float* selected;
};

void
WriteBlock(std::span<const float> block,
           std::span<const int32_t> keys,
           BlockCut cut,
           BlockOutput output)
{
    const int32_t least = cut.ties > 0 ? cut.tie : cut.above;
    for (size_t begin = 0; begin < block.size(); begin += GROUP_ELEMENTS)
    {
        const size_t count = std::min(GROUP_ELEMENTS, block.size() - begin);
        if (CountFrom(keys.subspan(begin, count), least) == 0)
        {
            continue;
        }
        for (size_t i = begin; i < begin + count; ++i)
        {
            const bool isTie = keys[i] == cut.tie && cut.ties > 0;
            if (keys[i] >= cut.above || isTie)
            {
                cut.ties -= isTie ? 1 : 0;
                *output.offsets++ = static_cast<uint16_t>(i);
                *output.selected++ = block[i];
            }
        }
    }
}

} // namespace

uint64_t
CountBlockTopK(uint64_t elements, uint32_t blockElements, uint32_t k)
{
    return elements / blockElements * std::min(k, blockElements) +
           std::min<uint64_t>(k, elements % blockElements);
}

uint64_t
SelectBlockTopK(std::span<const float> values,
                uint32_t blockElements,
                uint32_t k,
                std::span<uint16_t> offsets,
                std::span<float> selected,
                uint32_t threads)
{
    const uint32_t perBlock = std::min(k, blockElements);
    ForEachRange(values.size(), blockElements, threads, [=](const ElementRange& range) {
        std::vector<int32_t> keys(blockElements);
        for (uint64_t begin = range.begin; begin < range.end; begin += blockElements)
        {
            const auto block =
                values.subspan(begin, std::min<uint64_t>(blockElements, values.size() - begin));
            const auto present = std::span(keys).first(block.size());
            std::transform(block.begin(), block.end(), present.begin(), [](float value) {
                return static_cast<int32_t>(MagnitudeKey(value)); // below 2^31
            });
            const auto cut = FindBlockCut(present, std::min<uint64_t>(perBlock, block.size()));
            const uint64_t position = begin / blockElements * perBlock;
            WriteBlock(block,
                       present,
                       cut,
                       {offsets.data() + position, selected.data() + position});
        }
    });
    return CountBlockTopK(values.size(), blockElements, k);
}

void
PackOffsets(std::span<const uint16_t> offsets, uint32_t bits, std::span<uint32_t> words)
{
    for (size_t word = 0; word < words.size(); ++word)
    {
        words[word] = PackIndexWord(word, offsets.size(), bits, [&](uint64_t entry) {
            return offsets[entry];
        });
    }
}

void
UnpackOffsets(std::span<const uint32_t> words, uint32_t bits, std::span<uint16_t> offsets)
{
    for (size_t entry = 0; entry < offsets.size(); ++entry)
    {
        offsets[entry] = static_cast<uint16_t>(
            UnpackIndex(entry, bits, [&](uint64_t word) { return words[word]; }));
    }
}

} // namespace ns3::gradsync
