// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SPARSE_SELECTION_H
#define GRADSYNC_SPARSE_SELECTION_H

#include <cstdint>
#include <functional>
#include <span>

/**
 * CPU implementations of what selects elements of a gradient. Indices have 32 bits, so a tensor has
 * fewer than 2^32 elements. Magnitudes are compared by MagnitudeKey: NaN is larger than infinity.
 *
 * What is selected is written in ascending order of indices. `threads` is 0 for as many as the
 * machine has; results are the same for any.
 */
namespace ns3::gradsync
{

/// Where the largest `k` elements end.
struct TopKCut
{
    uint32_t key{0};      //!< all elements with a larger key are selected
    uint64_t ties{0};     //!< and this many of those with this key, the lowest indices first
    uint64_t selected{0}; //!< in all: min(k, elements)
};

/// Radix selection over the bits of the magnitudes.
TopKCut FindTopKCut(std::span<const float> values, uint64_t k, uint32_t threads = 0);

/**
 * Exact top-k by magnitude, the lowest indices among equals.
 * \param indices, selected at least min(k, elements) long
 * \returns min(k, elements)
 */
uint64_t SelectTopK(std::span<const float> values,
                    uint64_t k,
                    std::span<uint32_t> indices,
                    std::span<float> selected,
                    uint32_t threads = 0);

/**
 * Elements with a key of at least `key`, as many as fit the outputs, the lowest indices first: the
 * local phase of Ok-Topk (Li and Hoefler, PPoPP'22), which keeps a threshold for many iterations.
 * \returns how many were written
 */
uint64_t SelectFromKey(std::span<const float> values,
                       uint32_t key,
                       std::span<uint32_t> indices,
                       std::span<float> selected,
                       uint32_t threads = 0);

/**
 * Ends of regions that hold equally many of the given (ascending) indices each: what a worker of
 * Ok-Topk proposes for split-and-reduce.
 * \param ends one per region, each the first index after it; the last is `elements`
 */
void ProposeRegionEnds(std::span<const uint32_t> indices,
                       uint32_t elements,
                       std::span<uint32_t> ends);

/// How many of the ascending indices lie in each region.
void CountPerRegion(std::span<const uint32_t> indices,
                    std::span<const uint32_t> ends,
                    std::span<uint32_t> counts);

} // namespace ns3::gradsync

#endif // GRADSYNC_SPARSE_SELECTION_H
