// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_THC_ARITHMETIC_H
#define GRADSYNC_THC_ARITHMETIC_H

#include "ns3/float-bits.h"
#include "ns3/philox.h"

/**
 * The formulas of THC (Li et al., NSDI'24, "THC: Accelerating Distributed Deep Learning Using
 * Tensor Homomorphic Compression", non-uniform variant), shared by the CPU and the CUDA kernels.
 *
 * With H the Hadamard matrix of d = 2^k rows, D a diagonal of random signs that all workers draw
 * alike, and n the largest of the workers' norms: y = H D x / n has coordinates that are nearly
 * normal of variance 1. They are cut to +-t and rounded at random, without bias, to one of 16
 * values of a grid of g + 1, T[z]. Indices z are sent; sums of T[z] are what sums of gradients
 * become: x' = D H (2 sum T[z] - workers g) t n / (g d).
 */
namespace ns3::gradsync
{

/// Elements that are transformed together; a shorter end is padded to a power of two.
inline constexpr uint32_t THC_BLOCK = 4096;
inline constexpr uint32_t THC_LEVELS = 16; //!< of 4 bits
/// t: what a share of 1/32 of all normal numbers exceeds in magnitude.
inline constexpr float THC_BOUND = 2.1538747F;
/// A block whose norm is below this is sent as zeros: 1 / norm must be finite.
inline constexpr float THC_SMALLEST_NORM = 0x1p-120F;
/// A block is shared by so many threads of a GPU; lane l has the elements l, l + 256, ...
inline constexpr uint32_t THC_LANES = 256;
inline constexpr uint32_t THC_PER_LANE = THC_BLOCK / THC_LANES;

/// Key of the signs, which all workers draw alike.
inline constexpr uint32_t THC_SIGNS = 0x54484353U;
/// Counter of roundings, where signs count lanes.
inline constexpr uint32_t THC_ROUNDINGS = THC_LANES;

/// T, and how it is looked up.
struct ThcTable
{
    uint32_t granularity;       //!< g: the largest value
    uint8_t values[THC_LEVELS]; //!< ascending, from 0 to g
    uint32_t cells[256];        //!< [whole part of a position], of MakeThcCell
};

/// Between which values a position lies: z < 15, T[z], and T[z + 1] - T[z], a byte each.
GRADSYNC_HOST_DEVICE inline uint32_t
MakeThcCell(uint32_t code, uint32_t value, uint32_t next)
{
    return code | value << 8 | (next - value) << 16;
}

/// Which random numbers are drawn.
struct ThcDraw
{
    uint64_t iteration; //!< the same at all workers
    uint64_t seed;      //!< of the worker and the tensor
};

/// What a block is multiplied by.
struct ThcScale
{
    float inverse; //!< of the norm, for the encoder
    float step;    //!< of the decoder: what 1 means after the transform
};

/// Elements of the transform of a block of that many, at least 1.
GRADSYNC_HOST_DEVICE inline uint32_t
GetThcSize(uint32_t elements)
{
    uint32_t size = 1;
    while (size < elements)
    {
        size *= 2;
    }
    return size;
}

/**
 * \param norm the largest of all workers'. Infinity and NaN make the whole block NaN, so that an
 * overflow is seen by every receiver and not averaged away.
 */
GRADSYNC_HOST_DEVICE inline ThcScale
MakeThcScale(float norm, uint32_t granularity, uint32_t size)
{
    if (!IsKeyFinite(MagnitudeKey(norm)))
    {
        return {0.0F, FromBits(FLOAT_NAN)};
    }
    if (norm < THC_SMALLEST_NORM)
    {
        return {0.0F, 0.0F};
    }
    return {1.0F / norm, norm / static_cast<float>(granularity * size) * THC_BOUND};
}

/// Signs of the elements of a lane, the first one lowest; 1: negative.
GRADSYNC_HOST_DEVICE inline uint32_t
DrawThcSigns(uint64_t iteration, uint32_t block, uint32_t lane)
{
    const PhiloxBlock counter{
        {block, lane, static_cast<uint32_t>(iteration), static_cast<uint32_t>(iteration >> 32)}};
    return Philox4x32(counter, {{THC_SIGNS, 0}}).words[0] & 0xffffU;
}

/// Random numbers for the coordinates 4 quad ... 4 quad + 3 of all blocks, one after the other.
GRADSYNC_HOST_DEVICE inline PhiloxBlock
DrawThcRoundings(const ThcDraw& draw, uint32_t quad)
{
    const PhiloxBlock counter{{quad,
                               THC_ROUNDINGS,
                               static_cast<uint32_t>(draw.iteration),
                               static_cast<uint32_t>(draw.iteration >> 32)}};
    const PhiloxKey key{{static_cast<uint32_t>(draw.seed), static_cast<uint32_t>(draw.seed >> 32)}};
    return Philox4x32(counter, key);
}

/// The same number with its sign turned where the bit of the lane's signs says so.
GRADSYNC_HOST_DEVICE inline float
TurnThcSign(float value, uint32_t signs, uint32_t index)
{
    return FromBits(ToBits(value) ^ (((signs >> index) & 1U) << 31));
}

/// What a coordinate is multiplied by to be in units of the grid.
GRADSYNC_HOST_DEVICE inline float
GetThcSlope(uint32_t granularity)
{
    return static_cast<float>(granularity) * (0.5F / THC_BOUND);
}

/// Where a coordinate lies on the grid, in [0, granularity]; NaN lies at 0.
GRADSYNC_HOST_DEVICE inline float
GetThcPosition(float coordinate, float slope, uint32_t granularity)
{
    const auto largest = static_cast<float>(granularity);
    const float scaled = coordinate * slope;
    const float position = scaled + 0.5F * largest;
    const float low = position > 0.0F ? position : 0.0F;
    return low < largest ? low : largest;
}

/**
 * The code of one of the two values around a position, of the upper one with a probability of how
 * near it is.
 * \param cell of the table, where the position lies
 */
GRADSYNC_HOST_DEVICE inline uint32_t
RoundThc(float position, uint32_t random, uint32_t cell)
{
    const auto low = static_cast<float>((cell >> 8) & 0xffU);
    const auto gap = static_cast<float>(cell >> 16);
    return (cell & 0xffU) + (ToUnitInterval(random) * gap < position - low ? 1U : 0U);
}

/// A sum of table values as a coordinate in steps of half the grid: whole, below 2^8 in magnitude,
/// so that transforms of it are exact.
GRADSYNC_HOST_DEVICE inline float
CentreThc(uint32_t sum, uint32_t largestSum)
{
    return static_cast<float>(2 * static_cast<int32_t>(sum) - static_cast<int32_t>(largestSum));
}

/// \param whole after the transform
GRADSYNC_HOST_DEVICE inline float
DecodeThc(float whole, float step)
{
    return MagnitudeKey(step) > FLOAT_INFINITY ? FromBits(FLOAT_NAN) : whole * step;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_THC_ARITHMETIC_H
