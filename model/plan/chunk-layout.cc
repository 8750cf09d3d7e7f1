// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/chunk-layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

/// floor(index * elements / parts), with no overflow for 32-bit index and parts.
uint64_t
EvenBoundary(uint64_t elements, uint32_t index, uint32_t parts)
{
    const uint64_t quotient = elements / parts;
    const uint64_t remainder = elements % parts;
    return quotient * index + remainder * index / parts;
}

void
CheckCount(uint32_t value, const char* what)
{
    if (value == 0)
    {
        throw std::invalid_argument(std::string("ChunkLayout: ") + what + " must be at least 1");
    }
}

} // namespace

ChunkLayout
ChunkLayout::Even(uint64_t totalBytes, uint32_t chunkCount, uint32_t elementBytes)
{
    CheckCount(chunkCount, "the number of chunks");
    CheckCount(elementBytes, "the element size");
    const uint64_t elements = totalBytes / elementBytes;
    ChunkLayout layout;
    layout.m_offsets.reserve(static_cast<size_t>(chunkCount) + 1);
    for (uint32_t chunk = 0; chunk < chunkCount; ++chunk)
    {
        layout.m_offsets.push_back(EvenBoundary(elements, chunk, chunkCount) * elementBytes);
    }
    layout.m_offsets.push_back(totalBytes);
    return layout;
}

ChunkLayout
ChunkLayout::Weighted(uint64_t totalBytes,
                      const std::vector<double>& weights,
                      uint32_t chunksPerPart,
                      uint32_t elementBytes)
{
    CheckCount(chunksPerPart, "the number of chunks per part");
    CheckCount(elementBytes, "the element size");
    const auto isWeight = [](double weight) { return std::isfinite(weight) && weight >= 0; };
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    if (!std::all_of(weights.begin(), weights.end(), isWeight) || !std::isfinite(sum) || sum <= 0)
    {
        throw std::invalid_argument(
            "ChunkLayout: weights must be finite, not negative, and not all 0");
    }
    const uint64_t elements = totalBytes / elementBytes;
    ChunkLayout layout;
    layout.m_offsets.reserve(weights.size() * chunksPerPart + 1);
    double cumulative = 0;
    uint64_t begin = 0;
    for (const double weight : weights)
    {
        cumulative += weight;
        const auto share = static_cast<uint64_t>(
            std::llround(static_cast<long double>(elements) * (cumulative / sum)));
        const uint64_t end = std::clamp(share, begin, elements);
        for (uint32_t chunk = 0; chunk < chunksPerPart; ++chunk)
        {
            layout.m_offsets.push_back((begin + EvenBoundary(end - begin, chunk, chunksPerPart)) *
                                       elementBytes);
        }
        begin = end;
    }
    layout.m_offsets.push_back(totalBytes);
    return layout;
}

ChunkLayout
ChunkLayout::CommonRefinement(const std::vector<ChunkLayout>& layouts)
{
    ChunkLayout refined;
    for (const auto& layout : layouts)
    {
        if (layout.GetTotalBytes() != layouts.front().GetTotalBytes())
        {
            throw std::invalid_argument("ChunkLayout: layouts of different sizes have no common "
                                        "refinement");
        }
        refined.m_offsets.insert(refined.m_offsets.end(),
                                 layout.m_offsets.begin(),
                                 layout.m_offsets.end());
    }
    std::sort(refined.m_offsets.begin(), refined.m_offsets.end());
    refined.m_offsets.erase(std::unique(refined.m_offsets.begin(), refined.m_offsets.end()),
                            refined.m_offsets.end());
    return refined;
}

ChunkLayout
ChunkLayout::FromSizes(const std::vector<uint64_t>& sizes)
{
    ChunkLayout layout;
    layout.m_offsets.assign(sizes.size() + 1, 0);
    std::partial_sum(sizes.begin(), sizes.end(), layout.m_offsets.begin() + 1);
    return layout;
}

uint32_t
ChunkLayout::GetChunkCount() const
{
    return m_offsets.empty() ? 0 : static_cast<uint32_t>(m_offsets.size() - 1);
}

uint64_t
ChunkLayout::GetTotalBytes() const
{
    return m_offsets.empty() ? 0 : m_offsets.back();
}

uint32_t
ChunkLayout::FindChunk(uint64_t offsetBytes) const
{
    const auto found = std::lower_bound(m_offsets.begin(), m_offsets.end(), offsetBytes);
    if (found == m_offsets.end() || *found != offsetBytes)
    {
        throw std::invalid_argument("ChunkLayout: no chunk starts at this offset");
    }
    return static_cast<uint32_t>(found - m_offsets.begin());
}

uint64_t
ChunkLayout::GetMemoryBytes() const
{
    return m_offsets.capacity() * sizeof(m_offsets.front());
}

} // namespace ns3::gradsync
