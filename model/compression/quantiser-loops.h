// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_QUANTISER_LOOPS_H
#define GRADSYNC_QUANTISER_LOOPS_H

#include "ns3/instruction-sets.h"

#include <cstdint>

/**
 * The innermost loops of the quantisers, in a version for each set of instructions that pays. All
 * versions give the same bits; the fastest one that this CPU has is taken when the program runs, so
 * that a program that was built for any x86-64 is as fast as one that was built for its machine.
 */
namespace ns3::gradsync
{

/// How results are written. Past the caches nothing is read that will be overwritten, and what the
/// caches hold stays there; but who uses the results next reads them from memory.
enum class Stores : uint8_t
{
    Cached,
    Streamed, //!< past the caches, where a loop knows how
};

/// One version of each loop over `count` elements, of any alignment, on the calling thread. The
/// formulas are those of quantiser-arithmetic.h and float-bits.h.
struct QuantiserLoops
{
    /// The largest MagnitudeKey, 0 of nothing.
    uint32_t (*findLargestKey)(const float* values, uint64_t count);
    /// EncodeInt8 of values whose keys do not exceed that of which the inverse was made.
    void (*encodeInt8)(const float* values, uint64_t count, float inverse, int8_t* codes);
    /// Both, of two blocks: what is encoded comes from the caches, while the other one is read.
    uint32_t (*encodeInt8AndLook)(const float* values,
                                  uint64_t count,
                                  float inverse,
                                  int8_t* codes,
                                  const float* next,
                                  uint64_t nextCount,
                                  Stores stores);
    void (*decodeInt8)(const int8_t* codes,
                       uint64_t count,
                       float scale,
                       float* values,
                       Stores stores);
    void (*encodeHalf)(const float* values, uint64_t count, uint16_t* codes);
    void (*decodeHalf)(const uint16_t* codes, uint64_t count, float* values);
    void (*encodeBfloat)(const float* values, uint64_t count, uint16_t* codes);
    void (*decodeBfloat)(const uint16_t* codes, uint64_t count, float* values);
    /// Sixteen elements a word.
    void (*encodeTwoBits)(const float* gradients,
                          float* residual,
                          uint64_t count,
                          float threshold,
                          uint32_t* words);
    void (*encodeFixedPoint)(const float* values, uint64_t count, float factor, int32_t* codes);
    void (*decodeFixedPoint)(const int32_t* codes, uint64_t count, float inverse, float* values);
    void (*encodeWithExponent)(const float* values,
                               uint64_t count,
                               float sumFactor,
                               int8_t exponent,
                               int32_t* codes);
    void (*decodeWithExponent)(const int32_t* sums,
                               uint64_t count,
                               float sumFactor,
                               int8_t exponent,
                               float* values);
    void (*encodeByteWithExponent)(const float* values,
                                   uint64_t count,
                                   float share,
                                   int8_t exponent,
                                   int8_t* codes);
    void (*decodeByteWithExponent)(const int8_t* sums,
                                   uint64_t count,
                                   float inverse,
                                   int8_t exponent,
                                   float* values);
};

/// \param instructions one of GetInstructionSets(): others end the program
const QuantiserLoops& GetQuantiserLoops(InstructionSet instructions);

} // namespace ns3::gradsync

#endif // GRADSYNC_QUANTISER_LOOPS_H
