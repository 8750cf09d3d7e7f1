// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FLOAT_TENSOR_H
#define GRADSYNC_FLOAT_TENSOR_H

#include "ns3/gradient-tensor.h"
#include "ns3/transport.h"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/**
 * Gradients that are made up, and their integers by the codecs of model/compression/quantisers.h:
 * by one factor for all, or by SwitchML's exponents, one for each block, the largest of all
 * workers.
 */
class FloatTensor final : public GradientTensor
{
  public:
    struct Settings
    {
        GradientDistribution distribution;
        float factor;    //!< before rounding; 0: by exponents
        double mostSent; //!< larger ones go as floats (ATP); infinity: none do
    };

    FloatTensor(uint16_t job, const Shape& shape, const Settings& settings);

    void Fill(uint32_t worker, uint64_t block, std::vector<int32_t>& values) override;

    bool HasExponents() const
    {
        return m_settings.factor == 0.0F;
    }

    /// Of a worker's block.
    int8_t GetExponent(uint32_t worker, uint64_t block) const;
    /// The largest of all workers.
    int8_t GetLargestExponent(uint64_t block);

    /// Whether a worker's block is beyond the range of the fixed point.
    bool IsBeyondRange(uint32_t worker, uint64_t block) const;
    /// Whether these are the bits of the sums in float64, rounded to float32 or to one beside.
    bool CheckFloats(uint64_t block, std::span<const int32_t> values) const;

    void Measure(uint64_t block,
                 std::span<const int32_t> values,
                 bool isFloat,
                 AggregationStatistics& statistics) override;

  private:
    std::vector<float> Decode(uint64_t block, std::span<const int32_t> values);

    Settings m_settings;
    std::map<uint64_t, int8_t> m_exponents; //!< largest, of blocks that were asked for lately
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FLOAT_TENSOR_H
