// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_LOW_RANK_ARITHMETIC_H
#define GRADSYNC_LOW_RANK_ARITHMETIC_H

#include "ns3/float-bits.h"
#include "ns3/philox.h"

/**
 * The formulas of PowerSGD (Vogels et al., NeurIPS'19, algorithms 1 and 2), shared by the CPU and
 * the CUDA kernels.
 *
 * A gradient is a matrix M of n rows and m columns. With Q of the iteration before, P = M Q is
 * summed over workers and orthogonalised; Q = M^T P is summed over workers; P Q^T is the sum of
 * the gradients in so many ranks. P has n rows and Q has m, columns are stored one after the other.
 */
namespace ns3::gradsync
{

/// Products of a row are added in so many lanes, element k in lane k mod 128; then each thread of
/// a warp adds its four, and the warp all, by halves.
inline constexpr uint32_t LOW_RANK_LANES = 128;

/// Products of a column are added in strips of rows: each eighth of a strip in order, the eighths
/// by halves, the strips in order.
inline constexpr uint32_t LOW_RANK_STRIP = 64;
inline constexpr uint32_t LOW_RANK_EIGHTH = LOW_RANK_STRIP / 8;

/// Scalar products of columns are added in so many lanes, element i in lane i mod 1024.
inline constexpr uint32_t LOW_RANK_COLUMN_LANES = 1024;

/// A column of which no larger share is left by Gram-Schmidt is a sum of those before: what is left
/// is rounding, which would be no direction of its own.
inline constexpr double LOW_RANK_DEPENDENT = 0x1p-12;

/// Most columns of a factor.
inline constexpr uint32_t LOW_RANK_MOST = 1024;

/// Key of the first Q, which all workers draw alike.
inline constexpr uint32_t LOW_RANK_START = 0x50534744U;

/// The matrix that a tensor is to the codec, its rows one after the other; what the last one lacks
/// is 0.
struct LowRankShape
{
    uint32_t rows;
    uint32_t columns;
    uint32_t rank;
};

/// Of the elements 4 quad ... 4 quad + 3 of a column of Q: in [-1, 1), multiples of 2^-23.
GRADSYNC_HOST_DEVICE inline float
ToLowRankStart(uint32_t word)
{
    return ToUnitInterval(word) * 2.0F - 1.0F;
}

GRADSYNC_HOST_DEVICE inline PhiloxBlock
DrawLowRankStart(uint32_t column, uint32_t quad)
{
    return Philox4x32({{quad, column, 0, 0}}, {{LOW_RANK_START, 0}});
}

/// What a column of this norm is multiplied by to have the norm 1. \param before its norm before
/// those before it were taken out; NaN makes all of it NaN
GRADSYNC_HOST_DEVICE inline double
GetLowRankScale(double norm, double before)
{
    return norm <= before * LOW_RANK_DEPENDENT ? 0.0 : 1.0 / norm;
}

GRADSYNC_HOST_DEVICE inline float
ScaleLowRank(float value, double scale)
{
    return MakeCanonical(static_cast<float>(static_cast<double>(value) * scale));
}

/// Takes the part of another column out of one.
GRADSYNC_HOST_DEVICE inline float
TakeOutLowRank(float value, float other, double product)
{
    const double part = product * static_cast<double>(other);
    return MakeCanonical(static_cast<float>(static_cast<double>(value) - part));
}

} // namespace ns3::gradsync

#endif // GRADSYNC_LOW_RANK_ARITHMETIC_H
