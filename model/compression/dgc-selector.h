// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DGC_SELECTOR_H
#define GRADSYNC_DGC_SELECTOR_H

#include "ns3/codec-spec.h"
#include "ns3/parallel-ranges.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// Which elements the threshold of one iteration is taken from: start, start + stride, ...
struct DgcSample
{
    uint64_t start;
    uint64_t stride;
    uint64_t count;
};

/**
 * Deep gradient compression of one tensor (Lin et al., ICLR'18, algorithm 4): momentum correction,
 * a threshold from a sample, momentum factor masking, local clipping.
 *
 * The sample is strided and starts elsewhere in every iteration, by a hash of its number, so that a
 * run can be repeated. The threshold is applied in the same pass that updates u and v. What reaches
 * it is sent in order of indices until the message is full (density * elements, GetDensity); the
 * rest stays in u and v. An element that is 0 is never sent. Infinities and NaN are sent first and
 * so leave.
 */
class DgcSelector
{
  public:
    /// \param spec density, warmUp, sampleRate, momentum and clipNorm count
    DgcSelector(const CodecSpec& spec, uint64_t elements);

    /// Most elements that a message holds; in a warm-up its first ones hold the most.
    uint64_t GetCapacity() const;

    /**
     * One iteration.
     * \param indices, selected GetCapacity() long
     * \param threads 0: as many as the machine has; results are the same for any
     * \returns how many were written
     */
    uint64_t Select(std::span<const float> gradient,
                    std::span<uint32_t> indices,
                    std::span<float> selected,
                    uint32_t threads = 0);

    std::span<const float> GetVelocity() const
    {
        return m_velocity;
    }

    std::span<const float> GetAccumulated() const
    {
        return m_accumulated;
    }

  private:
    /// What every element of an iteration is treated by.
    struct Rule
    {
        float clip;
        uint32_t threshold; //!< magnitude key, at least 1
        uint64_t capacity;
    };

    uint32_t FindThresholdKey(std::span<const float> gradient,
                              float clip,
                              double density,
                              uint32_t threads) const;
    /// u and v go one step. \returns what reaches the threshold, to the capacity or a bit beyond
    std::vector<uint32_t> Step(std::span<const float> gradient,
                               const ElementRange& range,
                               const Rule& rule);
    /// The values of what is sent; none of it stays.
    void Send(std::span<const uint32_t> indices, std::span<float> selected, uint32_t threads);

    CodecSpec m_spec;
    std::vector<float> m_velocity;    //!< u
    std::vector<float> m_accumulated; //!< v
    uint64_t m_iteration{0};
};

/// The sample of an iteration. Kernels use it too.
DgcSample MakeDgcSample(uint64_t elements, double sampleRate, uint64_t iteration);

/// min(1, clipNorm / norm), and 1 where there is no clipping or the norm is not finite.
float GetClipFactor(double clipNorm, double norm);

} // namespace ns3::gradsync

#endif // GRADSYNC_DGC_SELECTOR_H
