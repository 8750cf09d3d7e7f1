// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ADDED_FLOAT_TENSOR_H
#define GRADSYNC_ADDED_FLOAT_TENSOR_H

#include "ns3/gradient-tensor.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Gradients that switches add as they are, float32 to float32 in the order in which they come: a
/// result is as near to the sum in float64 as so many roundings let it be.
class AddedFloatTensor final : public GradientTensor
{
  public:
    using GradientTensor::GradientTensor;

    void Fill(uint32_t worker, uint64_t block, std::vector<int32_t>& values) override;
    SumVerdict Check(uint64_t block, std::span<const int32_t> values, bool hasOverflowed) override;
    std::string DescribeDifference(uint64_t block, std::span<const int32_t> values) override;
    void Measure(uint64_t block,
                 std::span<const int32_t> values,
                 bool isFloat,
                 AggregationStatistics& statistics) override;

  private:
    /// Adds up a block in float64, unless it is the one of the last time.
    void Aggregate(uint64_t block);
    size_t FindDifference(uint64_t block, std::span<const int32_t> values);

    uint64_t m_block{UINT64_MAX};
    std::vector<double> m_sums;       //!< of m_block, as all workers ask for it in a row
    std::vector<double> m_magnitudes; //!< likewise, what they are sums of without signs
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ADDED_FLOAT_TENSOR_H
