// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_LOW_RANK_H
#define GRADSYNC_LOW_RANK_H

#include "ns3/low-rank-arithmetic.h"

#include <cstdint>
#include <span>

/**
 * CPU implementation of PowerSGD, whose formulas are those of low-rank-arithmetic.h. `threads` is 0
 * for as many as the machine has; results are the same bits for any number.
 */
namespace ns3::gradsync
{

/**
 * \param columns 0: nearly as many as rows, a multiple of 4
 * \returns no rows for no elements
 */
LowRankShape GetLowRankShape(uint64_t elements, uint32_t columns, uint32_t rank);

/// Numbers in P and in Q.
uint64_t CountRowFactors(const LowRankShape& shape);
uint64_t CountColumnFactors(const LowRankShape& shape);

/// Draws those columns of Q that are 0 throughout, as at the start, or have an infinity or NaN.
void RestartColumns(std::span<float> q, const LowRankShape& shape);

/// P = M Q. What workers make of their own gradients is added up before it is orthogonalised.
void ProjectRows(std::span<const float> values,
                 const LowRankShape& shape,
                 std::span<const float> q,
                 std::span<float> p,
                 uint32_t threads = 0);

/// Gram-Schmidt (modified), in place; columns that are sums of those before become 0.
void Orthogonalise(std::span<float> p, const LowRankShape& shape);

/// Q = M^T P. Of several workers the sum is that of the sum of their gradients.
void ProjectColumns(std::span<const float> values,
                    const LowRankShape& shape,
                    std::span<const float> p,
                    std::span<float> q,
                    uint32_t threads = 0);

/// P Q^T.
void ExpandFactors(std::span<const float> p,
                   std::span<const float> q,
                   const LowRankShape& shape,
                   std::span<float> values,
                   uint32_t threads = 0);

} // namespace ns3::gradsync

#endif // GRADSYNC_LOW_RANK_H
