// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GRADIENT_TENSOR_H
#define GRADSYNC_GRADIENT_TENSOR_H

#include "ns3/aggregation-tensor.h"
#include "ns3/gradient-distribution.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// Gradients that are made up, and become the integers of packets in one way or another.
class GradientTensor : public AggregationTensor
{
  public:
    GradientTensor(uint16_t job, const Shape& shape, const GradientDistribution& distribution);

    std::vector<float> GetGradient(uint32_t worker, uint64_t block) const;
    /// A worker's gradient as it is, the bits of floats in the place of integers.
    void FillFloats(uint32_t worker, uint64_t block, std::vector<int32_t>& values) const;

  protected:
    /// How far a sum of float32 from each worker, in any order, may be from that in float64, as a
    /// share of the sum of their magnitudes: g = (n - 1) u / (1 - (n - 1) u), u = 2^-24 (Higham,
    /// "Accuracy and stability of numerical algorithms", 4.2); the one in float64 likewise.
    double GetLargestSumError() const;
    /// The sums of a block, in float64.
    std::vector<double> AddGradients(uint64_t block) const;
    /// Adds the errors of sums to those before. \param exact as of AddGradients
    static void AddErrors(std::span<const double> exact,
                          std::span<const float> sums,
                          AggregationStatistics& statistics);

  private:
    uint64_t m_seed;
    GradientDistribution m_distribution;
};

/// What bits of floats are.
std::vector<float> ViewFloats(std::span<const int32_t> bits);

} // namespace ns3::gradsync

#endif // GRADSYNC_GRADIENT_TENSOR_H
