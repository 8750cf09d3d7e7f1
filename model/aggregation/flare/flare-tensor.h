// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FLARE_TENSOR_H
#define GRADSYNC_FLARE_TENSOR_H

#include "ns3/block-arithmetic.h"
#include "ns3/gradient-tensor.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// In which order switches add what workers give, where they do so by FlareSum::Tree.
struct SumOrder
{
    uint32_t worker{0};               //!< of a leaf
    std::vector<SumOrder> children{}; //!< of a switch, as it numbers them; empty: a leaf
};

/**
 * Gradients that switches add as float32, or sparse ones of floats or integers. A result must be
 * the sum in the order of the tree, bit for bit; without an order that of integers, and of floats
 * one as near to the sum in float64 as that of any order is. All workers must have the same bits.
 *
 * Of a sparse block each worker has as many values, at places of its own.
 */
class FlareTensor final : public GradientTensor
{
  public:
    struct Settings
    {
        GradientDistribution distribution;
        BlockArithmetic arithmetic;
        uint32_t entries;   //!< of a worker in a sparse block
        uint32_t valueBits; //!< integers are in [-2^bits, 2^bits)
    };

    /// \param shape whose values are those of a block, of which a sparse one has most at 0
    FlareTensor(uint16_t job, const Shape& shape, const Settings& settings);

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

    /// Of the floats at one place.
    struct Exact
    {
        double sum{0.0};
        double magnitudes{0.0};
    };

    void FillSparse(uint32_t worker, uint64_t block, std::vector<int32_t>& values) const;
    std::map<uint32_t, Exact> AddExactly(uint64_t block);

    /// How many numbers each value of a block takes.
    size_t GetStride() const
    {
        return m_settings.arithmetic.isSparse ? 2 : 1;
    }

    SumVerdict Judge(uint64_t block, std::span<const int32_t> values, bool hasOverflowed);
    bool MayBe(uint64_t block, std::span<const int32_t> values);

    uint64_t m_seed;
    Settings m_settings;
    SumOrder m_order;
    SumOrder m_anyOrder;
    std::map<uint64_t, First> m_first; //!< by block, until all workers have checked it
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FLARE_TENSOR_H
