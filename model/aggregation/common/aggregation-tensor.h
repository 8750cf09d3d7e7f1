// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_TENSOR_H
#define GRADSYNC_AGGREGATION_TENSOR_H

#include "ns3/transport-aggregation.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What a result is, compared with the sum of the integers of all workers.
enum class SumVerdict : uint8_t
{
    Exact,
    Overflowed, //!< int32 cannot hold the sum, and the network did with it what it does then
    Wrong
};

/**
 * The integers that the workers of a job aggregate: the same in every run of a seed, other ones for
 * each worker and place. Knows the exact sums, to check what the network makes of them.
 *
 * A block is what one packet carries. Blocks have numbers since the job began.
 */
class AggregationTensor
{
  public:
    /// What all kinds have in common.
    struct Shape
    {
        uint32_t workers;
        uint16_t valueCount; //!< integers of a block
        bool saturates;      //!< sums stop at the ends of int32; false: they wrap around
    };

    explicit AggregationTensor(const Shape& shape);
    virtual ~AggregationTensor() = default;

    /// Integers of one worker in one block.
    virtual void Fill(uint32_t worker, uint64_t block, std::vector<int32_t>& values) = 0;

    /// \param hasOverflowed the network says that a sum left the range of int32
    virtual SumVerdict Check(uint64_t block, std::span<const int32_t> values, bool hasOverflowed);

    /// The first value that is not the sum, for a text.
    virtual std::string DescribeDifference(uint64_t block, std::span<const int32_t> values);

    /// Adds the errors of a result to those before, where there may be any. \param isFloat it has
    /// the bits of floats
    virtual void Measure(uint64_t block,
                         std::span<const int32_t> values,
                         bool isFloat,
                         AggregationStatistics& statistics);

    /// Another number for every other place, value and order.
    static uint64_t GetFingerprint(uint64_t block, std::span<const int32_t> values);

  protected:
    /// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a bijection that leaves no pattern.
    static uint64_t Mix(uint64_t x);

    /// What the values of a job follow from, beside their places: the seed of all random numbers.
    static uint64_t GetSeed(uint16_t job);

    const Shape& GetShape() const
    {
        return m_shape;
    }

  private:
    /// Of one place of a block, over all workers.
    struct Sum
    {
        int64_t exact{0};
        int64_t lowest{0};  //!< of the negative ones: no partial sum is below
        int64_t highest{0}; //!< of the positive ones
    };

    void Aggregate(uint64_t block);
    bool MayBe(const Sum& sum, int32_t value) const;

    Shape m_shape;
    uint64_t m_block{UINT64_MAX};
    std::vector<Sum> m_sums; //!< of m_block
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_TENSOR_H
