// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CHUNK_LAYOUT_H
#define GRADSYNC_CHUNK_LAYOUT_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * How the gradient buffer of one worker is cut into chunks.
 *
 * Chunks are contiguous, ordered and together cover the buffer exactly once. Boundaries fall on
 * whole elements, so that a float is never split between two messages.
 */
class ChunkLayout
{
  public:
    /// An empty layout: no chunk, no byte.
    ChunkLayout() = default;

    /**
     * Cuts a buffer into chunks that differ by at most one element.
     * \param totalBytes size of the buffer; bytes beyond the last whole element go to the last
     * chunk \param chunkCount number of chunks, at least 1; may exceed the number of elements
     * (empty chunks) \param elementBytes size of one element, at least 1
     */
    static ChunkLayout Even(uint64_t totalBytes, uint32_t chunkCount, uint32_t elementBytes = 4);

    /**
     * Cuts a buffer in proportion to weights (RAT on asymmetric networks), each weighted part then
     * evenly into `chunksPerPart` chunks. Part p owns the chunks [p*chunksPerPart,
     * (p+1)*chunksPerPart). \param weights one non-negative weight a part; their sum must be
     * positive \throws std::invalid_argument on negative, non-finite or all-zero weights
     */
    static ChunkLayout Weighted(uint64_t totalBytes,
                                const std::vector<double>& weights,
                                uint32_t chunksPerPart,
                                uint32_t elementBytes = 4);

    /**
     * The coarsest layout in which every chunk of every given layout is a whole range of chunks.
     * Schemes that cut one buffer in several ways (rings over groups of different size) work on it.
     * It has no empty chunks. \throws std::invalid_argument when the layouts differ in total bytes
     */
    static ChunkLayout CommonRefinement(const std::vector<ChunkLayout>& layouts);

    /// Chunks of the given sizes, which may be 0, one after the other.
    static ChunkLayout FromSizes(const std::vector<uint64_t>& sizes);

    uint32_t GetChunkCount() const;
    uint64_t GetTotalBytes() const;

    /// Bytes in `count` chunks that start at chunk `first`.
    uint64_t GetBytes(uint32_t first, uint32_t count) const
    {
        return count == 0 ? 0 : m_offsets[size_t{first} + count] - m_offsets[first];
    }

    /**
     * The first chunk that starts at a byte offset; the chunk count for the end of the buffer.
     * \throws std::invalid_argument when no chunk starts there
     */
    uint32_t FindChunk(uint64_t offsetBytes) const;
    /// Heap bytes held by this layout.
    uint64_t GetMemoryBytes() const;

  private:
    std::vector<uint64_t>
        m_offsets; //!< chunk c is [m_offsets[c], m_offsets[c+1]); empty when default
};

} // namespace ns3::gradsync

#endif // GRADSYNC_CHUNK_LAYOUT_H
