// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_THC_H
#define GRADSYNC_THC_H

#include "ns3/thc-arithmetic.h"

#include <cstdint>
#include <span>

/**
 * CPU implementation of THC, whose formulas are those of thc-arithmetic.h. `threads` is 0 for as
 * many as the machine has; results are the same bits for any number.
 */
namespace ns3::gradsync
{

/// Largest sum that 8 bits hold.
inline constexpr uint32_t THC_LARGEST_SUM = 255;

/// Workers whose sums fit in 8 bits.
constexpr uint32_t
CountThcWorkers(uint32_t granularity)
{
    return THC_LARGEST_SUM / granularity;
}

/// Blocks of a tensor, each of which has a norm.
constexpr uint64_t
CountThcBlocks(uint64_t elements)
{
    return (elements + THC_BLOCK - 1) / THC_BLOCK;
}

/// Coordinates of a tensor: its elements, the last block's rounded up to a power of two.
uint64_t CountThcCoordinates(uint64_t elements);

/// Bytes of so many coordinates of 4 bits.
constexpr uint64_t
GetThcCodeBytes(uint64_t coordinates)
{
    return (coordinates + 1) / 2;
}

/**
 * The 16 of granularity + 1 grid points, symmetric about the middle, with the least mean square
 * error of a normal number that is cut to +-THC_BOUND and rounded at random between its neighbours
 * (THC's offline optimisation). Values of 15 are those of the uniform grid.
 * \param granularity 15 to 255
 */
ThcTable MakeThcTable(uint32_t granularity);

/// H x of a power of two of at most THC_BLOCK values, unscaled: done twice it gives size times x.
void TransformHadamard(std::span<float> values);

/// \param norms Euclidean, one per block
void FindThcNorms(std::span<const float> values, std::span<float> norms, uint32_t threads = 0);

/**
 * \param norms of each block, the largest of all workers
 * \param codes GetThcCodeBytes(CountThcCoordinates()) long: two coordinates in a byte, the first
 * one lowest
 */
void EncodeThc(std::span<const float> values,
               std::span<const float> norms,
               const ThcTable& table,
               const ThcDraw& draw,
               std::span<uint8_t> codes,
               uint32_t threads = 0);

/// One worker's message. \param iteration of the draw
void DecodeThc(std::span<const uint8_t> codes,
               std::span<const float> norms,
               const ThcTable& table,
               uint64_t iteration,
               std::span<float> values,
               uint32_t threads = 0);

/// sums += T[codes]. \param sums one per coordinate; of at most CountThcWorkers() messages
void AddThc(std::span<const uint8_t> codes,
            const ThcTable& table,
            std::span<uint8_t> sums,
            uint32_t threads = 0);

/// The sum of the gradients of as many workers as have been added.
void DecodeThcSums(std::span<const uint8_t> sums,
                   std::span<const float> norms,
                   uint32_t granularity,
                   uint32_t workers,
                   uint64_t iteration,
                   std::span<float> values,
                   uint32_t threads = 0);

} // namespace ns3::gradsync

#endif // GRADSYNC_THC_H
