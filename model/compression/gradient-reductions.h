// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GRADIENT_REDUCTIONS_H
#define GRADSYNC_GRADIENT_REDUCTIONS_H

#include <cstdint>
#include <span>
#include <vector>

/**
 * CPU implementations of what adds and scores gradients. Sums have one fixed order (1024 lanes,
 * then halves), so they are the same bits for any number of threads, and on a GPU. `threads` is 0
 * for as many as the machine has.
 */
namespace ns3::gradsync
{

/// Elements of a sparse gradient, ascending and distinct indices.
struct SparseGradient
{
    std::span<const uint32_t> indices;
    std::span<const float> values;
};

/// sum += addend; any NaN is the canonical one.
void AddDense(std::span<const float> addend, std::span<float> sum, uint32_t threads = 0);

/// velocity = momentum * velocity + gradient, as feedback-arithmetic.h has it.
void StepMomentum(std::span<const float> gradient,
                  float momentum,
                  std::span<float> velocity,
                  uint32_t threads = 0);

/// residual -= received, and 0 where that is not finite; likewise.
void KeepResidual(std::span<const float> received, std::span<float> residual, uint32_t threads = 0);

/// sum[index] += value for each element of a message.
void AddSparse(const SparseGradient& addend, std::span<float> sum, uint32_t threads = 0);

/**
 * Adds sparse gradients without making them dense: what the global server of BiSparse (GeoMX,
 * section 4) sends down. Values of equal indices are added in the order of the messages.
 * \param indices, values at least as long as all messages together, or as `elements`
 * \returns elements of the union
 */
uint64_t MergeSparse(const std::vector<SparseGradient>& messages,
                     std::span<uint32_t> indices,
                     std::span<float> values);

/// Euclidean norm, squared and added in double precision. NaN if there is one, else infinite.
double ComputeNorm(std::span<const float> values, uint32_t threads = 0);

/**
 * DGT's contribution of each block of 4096 elements, averaged over iterations.
 * \param memory weight of the past, in [0, 1]
 * \param contributions one per block, read and updated; 0 at first
 */
void ScoreBlocks(std::span<const float> values,
                 float memory,
                 std::span<float> contributions,
                 uint32_t threads = 0);

/**
 * Blocks of 256 elements that are not all 0 (OmniReduce, Fei et al., SIGCOMM'21). Both zeros are 0;
 * NaN is not.
 * \param bitmap one bit per block, the first one lowest; whole words are written
 * \returns how many there are
 */
uint64_t FindNonZeroBlocks(std::span<const float> values,
                           std::span<uint32_t> bitmap,
                           uint32_t threads = 0);

} // namespace ns3::gradsync

#endif // GRADSYNC_GRADIENT_REDUCTIONS_H
