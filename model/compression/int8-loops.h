// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_INT8_LOOPS_H
#define GRADSYNC_INT8_LOOPS_H

#include "ns3/quantiser-loops.h"

#include <cstdint>

namespace ns3::gradsync
{

#ifdef __x86_64__
/**
 * \name QuantiserLoops::encodeInt8AndLook and decodeInt8 by AVX2, written out
 * For the implementation of quantiser-loops.h only. While a block is encoded from the caches
 * nothing would be read from memory, and the processor's own prefetching would begin anew with
 * each.
 * \{
 */
uint32_t EncodeInt8AndLookAvx2(const float* values,
                               uint64_t count,
                               float inverse,
                               int8_t* codes,
                               const float* next,
                               uint64_t nextCount,
                               Stores stores);

void DecodeInt8Avx2(const int8_t* codes, uint64_t count, float scale, float* values, Stores stores);
/** \} */
#endif

} // namespace ns3::gradsync

#endif // GRADSYNC_INT8_LOOPS_H
