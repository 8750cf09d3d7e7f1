// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SPARSIFIER_ARITHMETIC_H
#define GRADSYNC_SPARSIFIER_ARITHMETIC_H

#include "ns3/feedback-arithmetic.h"
#include "ns3/float-bits.h"

/// The formulas of the sparsifying codecs, shared by the CPU and the CUDA kernels.
namespace ns3::gradsync
{

/// Digits of a magnitude key, most significant first, as radix selection looks at them.
inline constexpr uint32_t RADIX_LEVELS = 3;
inline constexpr uint32_t RADIX_BITS[RADIX_LEVELS] = {11, 10, 10};
inline constexpr uint32_t RADIX_SHIFT[RADIX_LEVELS] = {20, 10, 0};
inline constexpr uint32_t RADIX_BINS = 2048; //!< of the widest digit

GRADSYNC_HOST_DEVICE inline uint32_t
GetRadixDigit(uint32_t key, uint32_t level)
{
    return level == 0 ? key >> 20 : (level == 1 ? (key >> 10) & 1023U : key & 1023U);
}

/// Mixes all bits of a number (the finaliser of SplitMix64, Steele et al., OOPSLA'14): where DGC's
/// sample begins.
GRADSYNC_HOST_DEVICE inline uint64_t
HashNumber(uint64_t number)
{
    uint64_t mixed = number + 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31);
}

/// State of one element of DGC.
struct DgcState
{
    float velocity;    //!< u
    float accumulated; //!< v
};

/**
 * Momentum correction (DGC, Lin et al., ICLR'18, equation 6): u = m u + g, v = v + u, with g scaled
 * by local clipping before. Any NaN is the canonical one.
 */
GRADSYNC_HOST_DEVICE inline DgcState
StepDgc(float gradient, float clip, DgcState state, float momentum)
{
    const float velocity = StepMomentum(gradient * clip, state.velocity, momentum);
    return {velocity, AddCanonical(state.accumulated, velocity)};
}

/// Bits of an index inside a block of 2^n elements.
GRADSYNC_HOST_DEVICE inline uint32_t
GetIndexBits(uint32_t blockElements)
{
    uint32_t bits = 0;
    while ((1U << bits) < blockElements)
    {
        ++bits;
    }
    return bits;
}

/**
 * Word `word` of a stream of `count` indices of `bits` bits each, the first one lowest; entries
 * straddle words. Gathering (rather than scattering) lets every thread own its word.
 * \param load index of an entry -> its value
 */
template <typename Load>
GRADSYNC_HOST_DEVICE inline uint32_t
PackIndexWord(uint64_t word, uint64_t count, uint32_t bits, const Load& load)
{
    if (bits == 0)
    {
        return 0;
    }
    const uint64_t begin = word * 32;
    uint32_t packed = 0;
    for (uint64_t entry = begin / bits; entry < count && entry * bits < begin + 32; ++entry)
    {
        const auto value = static_cast<uint64_t>(load(entry));
        const uint64_t at = entry * bits;
        packed |= at >= begin ? static_cast<uint32_t>(value << (at - begin))
                              : static_cast<uint32_t>(value >> (begin - at));
    }
    return packed;
}

/// Entry `entry` of such a stream. \param load index of a word -> the word
template <typename Load>
GRADSYNC_HOST_DEVICE inline uint32_t
UnpackIndex(uint64_t entry, uint32_t bits, const Load& load)
{
    if (bits == 0)
    {
        return 0;
    }
    const uint64_t at = entry * bits;
    const auto shift = static_cast<uint32_t>(at % 32);
    uint64_t pair = load(at / 32);
    if (shift + bits > 32)
    {
        pair |= static_cast<uint64_t>(load(at / 32 + 1)) << 32;
    }
    return static_cast<uint32_t>(pair >> shift) & ((1U << bits) - 1U);
}

/// Elements of a block of DGT, OmniReduce's block of 256, and lanes of the sum over a block.
inline constexpr uint32_t DGT_BLOCK_ELEMENTS = 4096;
inline constexpr uint32_t ZERO_BLOCK_ELEMENTS = 256;
inline constexpr uint32_t SUM_LANES = 1024;

/**
 * Contribution of a block (DGT, Zhou et al., APNet'19, equation 2): an average over iterations of
 * the mean magnitude.
 */
GRADSYNC_HOST_DEVICE inline float
UpdateContribution(float before, float sumOfMagnitudes, uint32_t elements, float memory)
{
    const float mean = sumOfMagnitudes / static_cast<float>(elements);
    const float old = memory * before;
    const float fresh = (1.0F - memory) * mean;
    return old + fresh;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_SPARSIFIER_ARITHMETIC_H
