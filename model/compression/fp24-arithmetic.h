// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FP24_ARITHMETIC_H
#define GRADSYNC_FP24_ARITHMETIC_H

#include "ns3/float-bits.h"

/// Numbers of 24 bits: sign, exponent and 15 bits of the fraction of binary32.
namespace ns3::gradsync
{

/// binary32 -> 24 bits, ties to even; NaN becomes the canonical one.
GRADSYNC_HOST_DEVICE inline uint32_t
FloatToFp24(float value)
{
    const uint32_t bits = ToBits(value);
    const uint32_t rounded = (bits + 0x7fU + ((bits >> 8) & 1U)) >> 8;
    return MagnitudeKey(value) > FLOAT_INFINITY ? FLOAT_NAN >> 8 : rounded;
}

/// 24 bits -> binary32, exact; NaN becomes the canonical one.
GRADSYNC_HOST_DEVICE inline float
Fp24ToFloat(uint32_t code)
{
    const uint32_t bits = code << 8;
    return FromBits((bits & ~FLOAT_SIGN) > FLOAT_INFINITY ? FLOAT_NAN : bits);
}

} // namespace ns3::gradsync

#endif // GRADSYNC_FP24_ARITHMETIC_H
