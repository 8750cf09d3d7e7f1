// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BLOCK_TOP_K_H
#define GRADSYNC_BLOCK_TOP_K_H

#include <cstdint>
#include <span>

namespace ns3::gradsync
{

/**
 * bbTopk (Chen et al., ICDCS'23): the k largest of each block of `blockElements`, a power of two up
 * to 65,536; the last block may be shorter and has at most as many as elements.
 * \param offsets of the selected elements in their blocks, ascending within each
 * \returns how many were written: k per whole block and min(k, rest) of the last
 */
uint64_t SelectBlockTopK(std::span<const float> values,
                         uint32_t blockElements,
                         uint32_t k,
                         std::span<uint16_t> offsets,
                         std::span<float> selected,
                         uint32_t threads = 0);

/// How many elements SelectBlockTopK selects.
uint64_t CountBlockTopK(uint64_t elements, uint32_t blockElements, uint32_t k);

/// Writes offsets below 2^bits as a stream of `bits` bits each. \param words ceil(count bits / 32)
void PackOffsets(std::span<const uint16_t> offsets, uint32_t bits, std::span<uint32_t> words);
void UnpackOffsets(std::span<const uint32_t> words, uint32_t bits, std::span<uint16_t> offsets);

} // namespace ns3::gradsync

#endif // GRADSYNC_BLOCK_TOP_K_H
