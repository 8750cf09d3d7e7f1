// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FLOAT_BITS_H
#define GRADSYNC_FLOAT_BITS_H

#include <bit>
#include <cstdint>

/// Marks what the CPU and the CUDA kernels compile from the same text, so that they agree bit for
/// bit.
#ifdef __CUDACC__
#define GRADSYNC_HOST_DEVICE __host__ __device__
#else
#define GRADSYNC_HOST_DEVICE
#endif

/**
 * Arithmetic on the bits of IEEE 754 numbers, shared by the CPU codecs and the CUDA kernels.
 *
 * Both are compiled without fused multiply-adds and with denormals, so every float operation here
 * is the correctly rounded one of IEEE 754 and has one result. Payloads of NaN are the exception:
 * hardware differs, so every function here that returns a NaN returns the canonical one.
 */
namespace ns3::gradsync
{

inline constexpr uint32_t FLOAT_SIGN = 0x80000000U;
inline constexpr uint32_t FLOAT_INFINITY = 0x7f800000U; //!< larger magnitudes are NaN
inline constexpr uint32_t FLOAT_NAN = 0x7fc00000U;      //!< the canonical one
inline constexpr uint16_t HALF_NAN = 0x7e00U;
inline constexpr uint16_t BFLOAT_NAN = 0x7fc0U;

GRADSYNC_HOST_DEVICE inline uint32_t
ToBits(float value)
{
#ifdef __CUDA_ARCH__
    return __float_as_uint(value);
#else
    return std::bit_cast<uint32_t>(value);
#endif
}

GRADSYNC_HOST_DEVICE inline float
FromBits(uint32_t bits)
{
#ifdef __CUDA_ARCH__
    return __uint_as_float(bits);
#else
    return std::bit_cast<float>(bits);
#endif
}

/**
 * Orders by magnitude as integers do: -0 and 0 are equal, denormals count, infinity is above all
 * numbers and NaN above infinity, by payload.
 */
GRADSYNC_HOST_DEVICE inline uint32_t
MagnitudeKey(float value)
{
    return ToBits(value) & ~FLOAT_SIGN;
}

/// Whether a magnitude key is that of an infinity or a NaN.
GRADSYNC_HOST_DEVICE inline bool
IsKeyFinite(uint32_t key)
{
    return key < FLOAT_INFINITY;
}

/// The same number, and of any NaN the canonical one: sums of NaN differ between processors.
GRADSYNC_HOST_DEVICE inline float
MakeCanonical(float value)
{
    return MagnitudeKey(value) > FLOAT_INFINITY ? FromBits(FLOAT_NAN) : value;
}

/**
 * Nearest integer, ties to even. Not std::rint: without SSE4.1 that is a function call for each
 * element. Adding and subtracting 2^23 rounds what is below 2^23; above all floats are whole.
 */
GRADSYNC_HOST_DEVICE inline float
RoundToEven(float value)
{
#ifdef __CUDA_ARCH__
    return rintf(value);
#else
    constexpr float WHOLE = 8388608.0F; // 2^23
    const uint32_t sign = ToBits(value) & FLOAT_SIGN;
    const float magnitude = FromBits(ToBits(value) & ~FLOAT_SIGN);
    const float rounded = (magnitude + WHOLE) - WHOLE;
    return FromBits(ToBits(magnitude < WHOLE ? rounded : magnitude) | sign);
#endif
}

/// binary32 -> binary16, ties to even; what is too large becomes infinity, NaN the canonical one.
GRADSYNC_HOST_DEVICE inline uint16_t
FloatToHalf(float value)
{
    const uint32_t key = MagnitudeKey(value);
    const auto sign = static_cast<uint16_t>((ToBits(value) & FLOAT_SIGN) >> 16);
    // From 2^-14 on: rebias the exponent by 112 and round 13 bits away. The carry may reach
    // infinity.
    const uint32_t normal = (key + 0xfffU + ((key >> 13) & 1U) - (112U << 23)) >> 13;
    // Below: adding 1/2 leaves the value in units of 2^-24 in the low bits, rounded by the adder.
    const uint32_t denormal = ToBits(FromBits(key) + 0.5F) - 0x3f000000U;
    const uint32_t finite = key < 0x38800000U ? denormal : normal;
    const uint32_t bounded = key >= 0x47800000U ? 0x7c00U : finite; // from 2^16 on
    return key > FLOAT_INFINITY ? HALF_NAN : static_cast<uint16_t>(bounded | sign);
}

/// binary16 -> binary32, exact.
GRADSYNC_HOST_DEVICE inline float
HalfToFloat(uint16_t half)
{
    const uint32_t sign = (half & 0x8000U) << 16;
    const uint32_t magnitude = half & 0x7fffU;
    const float normal = FromBits((magnitude << 13) + (112U << 23));
    const float denormal = static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24F;
    const float finite = magnitude < 0x400U ? denormal : normal;
    const uint32_t bits = magnitude < 0x7c00U    ? ToBits(finite)
                          : magnitude == 0x7c00U ? FLOAT_INFINITY
                                                 : FLOAT_NAN;
    return FromBits(magnitude > 0x7c00U ? bits : bits | sign);
}

/// binary32 -> bfloat16, ties to even; NaN becomes the canonical one.
GRADSYNC_HOST_DEVICE inline uint16_t
FloatToBfloat(float value)
{
    const uint32_t bits = ToBits(value);
    const uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    return MagnitudeKey(value) > FLOAT_INFINITY ? BFLOAT_NAN : static_cast<uint16_t>(rounded);
}

/// bfloat16 -> binary32, exact; NaN becomes the canonical one.
GRADSYNC_HOST_DEVICE inline float
BfloatToFloat(uint16_t bfloat)
{
    const uint32_t bits = static_cast<uint32_t>(bfloat) << 16;
    return FromBits((bits & ~FLOAT_SIGN) > FLOAT_INFINITY ? FLOAT_NAN : bits);
}

} // namespace ns3::gradsync

#endif // GRADSYNC_FLOAT_BITS_H
