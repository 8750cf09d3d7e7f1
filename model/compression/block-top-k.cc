// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/block-top-k.h"

#include "ns3/parallel-ranges.h"
#include "ns3/sparsifier-arithmetic.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace ns3::gradsync
{

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
        std::vector<uint32_t> keys;
        for (uint64_t begin = range.begin; begin < range.end; begin += blockElements)
        {
            const auto block =
                values.subspan(begin, std::min<uint64_t>(blockElements, values.size() - begin));
            const auto count = std::min<size_t>(perBlock, block.size());
            if (count == 0)
            {
                continue;
            }
            keys.resize(block.size());
            std::transform(block.begin(), block.end(), keys.begin(), MagnitudeKey);
            const auto last = keys.begin() + static_cast<std::ptrdiff_t>(count - 1);
            std::nth_element(keys.begin(), last, keys.end(), std::greater<>());
            const uint32_t cut = *last;
            auto ties = std::count(keys.begin(), last + 1, cut);
            uint64_t position = begin / blockElements * perBlock;
            for (size_t i = 0; i < block.size(); ++i)
            {
                const uint32_t key = MagnitudeKey(block[i]);
                if (key > cut || (key == cut && ties-- > 0))
                {
                    offsets[position] = static_cast<uint16_t>(i);
                    selected[position++] = block[i];
                }
            }
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
