// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_KERNELS_TOP_K_SEARCH_H
#define GRADSYNC_KERNELS_TOP_K_SEARCH_H

#include "ordered-select.h"
#include "top-k.h"

#include <algorithm>

/**
 * Exact top-k. Two passes over the tensor: a histogram of the 11 leading bits of the magnitudes,
 * and an ordered copy of all elements from the bin on where the k-th largest lies, which counts the
 * next 10 bits of that bin on the way. The last 10 bits, counted in the copy, which is little
 * longer than k for gradients, give the exact cut, and a last ordered copy the result. The block of
 * threads that ends last finds the cut of a digit, so that nothing is launched for it. Places in
 * the copies come from look-back, so nothing depends on the order in which blocks run.
 */
namespace ns3::gradsync::kernels
{

inline constexpr uint32_t MOST_RANGES = 512;         //!< of the tensor or of the candidates
inline constexpr uint32_t MOST_RANGE_THREADS = 1024; //!< of the block that takes a range

/// What is known of the cut, the key of the smallest magnitude that is selected.
struct Cut
{
    uint32_t wanted; //!< still to be found inside the bin of its last known digit
    uint32_t prefix; //!< its known digits, in place
};

/// How far the selection is; 0 before the first kernel.
struct TopKState
{
    Cut cuts[RADIX_LEVELS];          //!< with one digit more each
    uint32_t finished[RADIX_LEVELS]; //!< blocks that have counted their part of a digit
    uint32_t candidates;             //!< elements of the ordered copy
    uint32_t copied;                 //!< as many, of the kernel that copies them
};

/// Everything in the workspace; up to the indices it must be 0 before the first kernel.
struct TopKParts
{
    TopKState* state;
    uint32_t* totals;  //!< [level][bin]
    TileCounts tiles;  //!< of the tensor, what the copy takes
    TileCounts above;  //!< of the ranges of candidates, what lies above the cut
    TileCounts ties;   //!< and what is equal to it
    uint32_t* indices; //!< of the ordered copy
    float* values;
};

/// What is selected from: how many there are and how many are wanted the device may know alone.
struct TopKInput
{
    const float* values;
    uint64_t count; //!< at most
    uint32_t wanted;
    const TopKLimits* limits; //!< unless null

    __device__ uint64_t GetCount() const
    {
        return limits != nullptr ? limits->count : count;
    }

    __device__ uint32_t GetWanted() const
    {
        return limits != nullptr ? limits->wanted : wanted;
    }
};

/// Ranges of any device: at least a vector for each thread of a range's block.
inline uint32_t
CountMostRanges(uint64_t count)
{
    return static_cast<uint32_t>(
        std::clamp<uint64_t>(count / (uint64_t{4} * MOST_RANGE_THREADS), 1, MOST_RANGES));
}

inline TopKParts
CutTopK(WorkspaceCutter& cutter, uint64_t count)
{
    TopKParts parts{};
    parts.state = cutter.Take<TopKState>(1);
    parts.totals = cutter.Take<uint32_t>(uint64_t{RADIX_LEVELS} * RADIX_BINS);
    parts.tiles = TakeTileCounts(cutter, count, &Tuning::selectVectors);
    parts.above = TakeTileCounts(cutter, CountMostRanges(count));
    parts.ties = TakeTileCounts(cutter, CountMostRanges(count));
    parts.indices = cutter.Take<uint32_t>(count);
    parts.values = cutter.Take<float>(count);
    return parts;
}

/// First element of a range; ranges begin at multiples of 4.
__device__ inline uint64_t
GetRangeBegin(uint32_t range, uint64_t count)
{
    const uint64_t vectors = (count + 3) / 4;
    const uint64_t begin = vectors * range / gridDim.x * 4;
    return begin < count ? begin : count;
}

/// All but the last copy. \param cutKey where the cut's key goes; may be null
cudaError_t SearchTopK(const TopKInput& input,
                       const TopKParts& parts,
                       uint32_t* cutKey,
                       cudaStream_t stream);

} // namespace ns3::gradsync::kernels

#endif // GRADSYNC_KERNELS_TOP_K_SEARCH_H
