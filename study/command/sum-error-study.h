// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SUM_ERROR_STUDY_H
#define GRADSYNC_SUM_ERROR_STUDY_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// How far sums of integers are from those of the gradients.
struct SumErrors
{
    double relative{0};    //!< length of the error over that of the sums, both Euclidean
    double largest{0};     //!< error of one sum
    uint64_t overflows{0}; //!< sums that are beyond int32
};

/**
 * Gradients of several workers, aggregated by a switch in integers, against float64: encoded and
 * decoded by the codecs (model/compression/quantisers.h), added by SlotSwitch in packets of 64.
 * What does not fit wraps around in the sum and saturates in the encoder.
 */
class SumErrorStudy
{
  public:
    static constexpr uint32_t PACKET_VALUES = 64;

    /// Distributions of gradients that the constructor knows, by name.
    static std::vector<std::string> ListDistributions();

    /**
     * \param distribution one of ListDistributions
     * \param workers 1 to 256
     * \param elements a multiple of PACKET_VALUES, at most 2^22: the epochs of one slot
     */
    SumErrorStudy(const std::string& distribution,
                  uint32_t workers,
                  uint32_t elements,
                  uint64_t seed);

    /// Of these gradients, [worker][element].
    explicit SumErrorStudy(std::vector<std::vector<float>> gradients);

    /// One factor for all: PASSING 10^8, ATP 10^6.
    SumErrors MeasureFactor(float factor) const;

    /// SwitchML's exponents, one for each packet, of the worker with the largest value in it.
    SumErrors MeasureExponents() const;

    /// The largest magnitude of a sum.
    double GetLargestSum() const;

  private:
    using Codes = std::vector<std::vector<int32_t>>; //!< [worker][element]

    std::vector<int32_t> Aggregate(const Codes& codes) const;
    SumErrors Compare(const std::vector<float>& decoded) const;

    std::vector<std::vector<float>> m_gradients; //!< [worker][element]
    std::vector<double> m_sums;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SUM_ERROR_STUDY_H
