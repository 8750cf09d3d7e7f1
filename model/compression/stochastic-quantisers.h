// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_STOCHASTIC_QUANTISERS_H
#define GRADSYNC_STOCHASTIC_QUANTISERS_H

#include "ns3/stochastic-arithmetic.h"

#include <cstdint>
#include <span>
#include <vector>

/**
 * CPU implementations of the codecs that draw random numbers; the formulas are those of
 * stochastic-arithmetic.h. What quantisers.h says of spans and threads holds here: the same bits
 * for any number of threads, as numbers are drawn by the index of an element.
 */
namespace ns3::gradsync
{

/// Bytes of QSGD's codes, norms not counted.
constexpr uint64_t
CountQsgdBytes(uint64_t elements, uint32_t levels)
{
    return (elements * GetQsgdBits(levels) + 7) / 8;
}

/// \param codes CountQsgdBytes, the first element lowest; \param norms one per bucket
void EncodeQsgdBuckets(std::span<const float> values,
                       uint32_t blockElements,
                       uint32_t levels,
                       const RandomStream& stream,
                       std::span<uint8_t> codes,
                       std::span<float> norms,
                       uint32_t threads = 0);
void DecodeQsgdBuckets(std::span<const uint8_t> codes,
                       std::span<const float> norms,
                       uint32_t blockElements,
                       uint32_t levels,
                       std::span<float> values,
                       uint32_t threads = 0);

/// As MakeTernaryScaler says; 0 for no values. Workers that share a scaler take the largest.
float FindTernaryScaler(std::span<const float> values, double clipDeviations, uint32_t threads = 0);
/// \param words one for every 16 elements, as of two-bit
void EncodeTernaryWords(std::span<const float> values,
                        float scaler,
                        const RandomStream& stream,
                        std::span<uint32_t> words,
                        uint32_t threads = 0);
void DecodeTernaryWords(std::span<const uint32_t> words,
                        float scaler,
                        std::span<float> values,
                        uint32_t threads = 0);

/// \param words one for every 32 elements; bits behind the last are 0
void EncodeSigns(std::span<const float> values,
                 const RandomStream& stream,
                 std::span<uint32_t> words,
                 uint32_t threads = 0);
void DecodeSigns(std::span<const uint32_t> words,
                 float magnitude,
                 std::span<float> values,
                 uint32_t threads = 0);

/**
 * signSGD's server: for each bit what most of the votes have. A tie is a fair coin, that which
 * EncodeSigns draws for an element of 0: so the result is EncodeSigns of the sum of all decoded.
 * \param votes messages of EncodeSigns, as long as `words`, 1 to MAX_VOTERS
 * \throws std::invalid_argument for no votes or too many
 */
void CountMajority(const std::vector<std::span<const uint32_t>>& votes,
                   const RandomStream& stream,
                   std::span<uint32_t> words,
                   uint32_t threads = 0);

} // namespace ns3::gradsync

#endif // GRADSYNC_STOCHASTIC_QUANTISERS_H
