// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FLARE_TENSOR_H
#define GRADSYNC_FLARE_TENSOR_H

#include "ns3/gradient-tensor.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// In which order switches add the gradients of workers, where they do so by FlareSum::Tree.
struct SumOrder
{
    uint32_t worker{0};               //!< of a leaf
    std::vector<SumOrder> children{}; //!< of a switch, as it numbers them; empty: a leaf
};

/**
 * Gradients that switches add as float32. A result must be the sum in the order of the tree, bit
 * for bit; without an order it must be as near to the sum in float64 as that of any order is. All
 * workers must have the same bits.
 */
class FlareTensor final : public GradientTensor
{
  public:
    using GradientTensor::GradientTensor;

    /// From now on sums are made in another order, or in any one (no children): of blocks that some
    /// worker has, others may get other bits.
    void SetOrder(SumOrder order);

    void Fill(uint32_t worker, uint64_t block, std::vector<int32_t>& values) override;
    SumVerdict Check(uint64_t block, std::span<const int32_t> values, bool hasOverflowed) override;
    std::string DescribeDifference(uint64_t block, std::span<const int32_t> values) override;
    void Measure(uint64_t block,
                 std::span<const int32_t> values,
                 bool isFloat,
                 AggregationStatistics& statistics) override;

    /// The bits of the sum in an order.
    std::vector<int32_t> AddInOrder(const SumOrder& order, uint64_t block);

  private:
    /// What the first worker got.
    struct First
    {
        std::vector<int32_t> bits;
        SumVerdict verdict;
        uint32_t others; //!< workers that have not checked theirs
    };

    SumVerdict Judge(uint64_t block, std::span<const int32_t> values);
    bool MayBe(uint64_t block, std::span<const int32_t> values) const;

    SumOrder m_order;
    std::map<uint64_t, First> m_first; //!< by block, until all workers have checked it
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FLARE_TENSOR_H
