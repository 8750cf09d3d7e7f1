// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_QUANTISER_ARITHMETIC_H
#define GRADSYNC_QUANTISER_ARITHMETIC_H

#include "ns3/float-bits.h"

/// The formulas of the quantising codecs, per element, shared by the CPU and the CUDA kernels.
namespace ns3::gradsync
{

/**
 * Scale of a block of int8: q = round(x / (max|x| / 127)), as in federated learning by weight
 * blocks (DDS-based training framework, "INT8").
 */
struct Int8Scale
{
    float scale;   //!< of the decoder: x' = q * scale; goes over the wire
    float inverse; //!< of the encoder: q = round(x * inverse)
};

/// A block whose largest magnitude is below this is sent as zeros: 127 / max must be finite.
inline constexpr float INT8_SMALLEST_MAXIMUM = 0x1p-120F;

/// Maxima are cut here, 15 units below the largest float, lest 127 * (max / 127) round to infinity.
inline constexpr uint32_t INT8_LARGEST_KEY = FLOAT_INFINITY - 16;

/**
 * \param maximumKey the largest MagnitudeKey of the block. Infinity and NaN make the scale NaN: the
 * whole block decodes to NaN, so that an overflow is seen by every receiver and not averaged away.
 */
GRADSYNC_HOST_DEVICE inline Int8Scale
MakeInt8Scale(uint32_t maximumKey)
{
    if (!IsKeyFinite(maximumKey))
    {
        return {FromBits(FLOAT_NAN), 0.0F};
    }
    const float maximum = FromBits(maximumKey < INT8_LARGEST_KEY ? maximumKey : INT8_LARGEST_KEY);
    if (maximum < INT8_SMALLEST_MAXIMUM)
    {
        return {0.0F, 0.0F};
    }
    return {maximum / 127.0F, 127.0F / maximum};
}

/// Ties to even; in [-127, 127]. A block that decodes to NaN or 0 is all 0.
GRADSYNC_HOST_DEVICE inline int8_t
EncodeInt8(float value, float inverse)
{
    const float scaled = value * inverse;
    // Written so that a NaN (infinity * 0) ends at 0.
    const float low = scaled > -127.0F ? scaled : (scaled <= -127.0F ? -127.0F : 0.0F);
    const float bounded = low < 127.0F ? low : 127.0F;
    return static_cast<int8_t>(static_cast<int32_t>(RoundToEven(bounded)));
}

GRADSYNC_HOST_DEVICE inline float
DecodeInt8(int8_t code, float scale)
{
    const float value = static_cast<float>(static_cast<int32_t>(code)) * scale;
    return MagnitudeKey(scale) > FLOAT_INFINITY ? FromBits(FLOAT_NAN) : value;
}

/// Codes of the 2-bit codec, two bits each, sixteen in a word, the first element lowest.
inline constexpr uint32_t TWO_BIT_PLUS = 1;
inline constexpr uint32_t TWO_BIT_MINUS = 2;
inline constexpr uint32_t TWO_BITS_PER_WORD = 16;

/// What one element becomes.
struct TwoBitStep
{
    uint32_t code;
    float residual; //!< kept for the next iteration
};

/**
 * 2-bit quantisation with a residual: what has gathered is sent as +threshold or -threshold once it
 * reaches it, and the rest stays (MXNet's gradient compression, after Strom 2015). Infinity is sent
 * once with its sign, NaN as 0, and neither stays in the residual.
 */
GRADSYNC_HOST_DEVICE inline TwoBitStep
EncodeTwoBit(float gradient, float residual, float threshold)
{
    const float gathered = residual + gradient;
    const uint32_t code =
        gathered >= threshold ? TWO_BIT_PLUS : (gathered <= -threshold ? TWO_BIT_MINUS : 0U);
    const float sent = code == TWO_BIT_PLUS ? threshold : (code != 0U ? -threshold : 0.0F);
    return {code, IsKeyFinite(MagnitudeKey(gathered)) ? gathered - sent : 0.0F};
}

GRADSYNC_HOST_DEVICE inline float
DecodeTwoBit(uint32_t code, float threshold)
{
    return code == TWO_BIT_PLUS ? threshold : (code == TWO_BIT_MINUS ? -threshold : 0.0F);
}

/// Largest magnitude of a fixed-point number: symmetric, so that negation is exact.
inline constexpr int32_t FIXED_POINT_MAXIMUM = 2147483647;

/// Rounds to the nearest, ties to even, and saturates at +-FIXED_POINT_MAXIMUM; NaN becomes 0.
GRADSYNC_HOST_DEVICE inline int32_t
ToFixedPoint(float scaled)
{
    constexpr float LIMIT = 2147483648.0F; // 2^31: the first float that does not fit
    const float inside = scaled > -LIMIT && scaled < LIMIT ? scaled : 0.0F;
    const auto rounded = static_cast<int32_t>(RoundToEven(inside));
    const int32_t upper = scaled >= LIMIT ? FIXED_POINT_MAXIMUM : rounded;
    return scaled <= -LIMIT ? -FIXED_POINT_MAXIMUM : upper;
}

/// Fixed point with one factor for all: PASSING multiplies by 10^8, ATP by 10^6.
GRADSYNC_HOST_DEVICE inline int32_t
EncodeFixedPoint(float value, float factor)
{
    return ToFixedPoint(value * factor);
}

/// \param inverse 1 / factor
GRADSYNC_HOST_DEVICE inline float
DecodeFixedPoint(int32_t value, float inverse)
{
    return static_cast<float>(value) * inverse;
}

/// Exponents of packets as SwitchML's header carries them (int8).
inline constexpr int32_t SMALLEST_PACKET_EXPONENT = -95; //!< smaller values would overflow a factor
inline constexpr int32_t LARGEST_PACKET_EXPONENT = 127;

/**
 * The least e with max|x| <= 2^e (1 - 2^-24), as std::frexp counts, within the limits above
 * (SwitchML, NSDI'21, section 3.7).
 * \param maximumKey the largest MagnitudeKey of the packet
 */
GRADSYNC_HOST_DEVICE inline int8_t
GetPacketExponent(uint32_t maximumKey)
{
    const auto exponent = static_cast<int32_t>(maximumKey >> 23) - 126;
    const int32_t least = exponent < SMALLEST_PACKET_EXPONENT ? SMALLEST_PACKET_EXPONENT : exponent;
    return static_cast<int8_t>(least < LARGEST_PACKET_EXPONENT ? least : LARGEST_PACKET_EXPONENT);
}

/**
 * The factor of values below 2^0 such that a sum over `workers` fits in int32: INT32_MAX / workers,
 * cut to 24 bits so that it is exact and no rounding can make the sum overflow.
 */
GRADSYNC_HOST_DEVICE inline float
GetSumFactor(uint32_t workers)
{
    uint32_t factor = static_cast<uint32_t>(FIXED_POINT_MAXIMUM) / workers;
    uint32_t dropped = 0;
    while ((factor >> dropped) >= (1U << 24))
    {
        ++dropped;
    }
    factor = (factor >> dropped) << dropped;
    return static_cast<float>(factor);
}

/// 2^exponent for -126 <= exponent <= 127, exact.
GRADSYNC_HOST_DEVICE inline float
PowerOfTwo(int32_t exponent)
{
    return FromBits(static_cast<uint32_t>(exponent + 127) << 23);
}

/**
 * Value * GetSumFactor(workers) / 2^exponent, rounded, and saturated at that factor: only what no
 * exponent is large enough for exceeds it.
 * \param exponent the largest of all workers' exponents of this packet
 */
GRADSYNC_HOST_DEVICE inline int32_t
EncodeWithExponent(float value, float sumFactor, int8_t exponent)
{
    const float scaled =
        value * (sumFactor * PowerOfTwo(-static_cast<int32_t>(exponent) + 1)) * 0.5F;
    const float low = scaled > sumFactor ? sumFactor : scaled; // NaN passes, and becomes 0
    return ToFixedPoint(low < -sumFactor ? -sumFactor : low);
}

GRADSYNC_HOST_DEVICE inline float
DecodeWithExponent(int32_t sum, float sumFactor, int8_t exponent)
{
    return static_cast<float>(sum) / sumFactor * PowerOfTwo(exponent);
}

/// Largest magnitude of a sum in 8 bits: symmetric, so that negation is exact.
inline constexpr uint32_t BYTE_SUM_MAXIMUM = 127;

/// What a sum over `workers` in 8 bits leaves each of them, a whole number. \param workers 1 to 127
GRADSYNC_HOST_DEVICE inline float
GetByteShare(uint32_t workers)
{
    return static_cast<float>(BYTE_SUM_MAXIMUM / workers);
}

/**
 * As EncodeWithExponent, in 8 bits: value * share / 2^exponent, rounded, and saturated at +-share;
 * NaN becomes 0.
 * \param share GetByteShare(workers)
 * \param exponent the largest of all workers' exponents of this packet
 */
GRADSYNC_HOST_DEVICE inline int8_t
EncodeByteWithExponent(float value, float share, int8_t exponent)
{
    const float scaled = value * (share * PowerOfTwo(-static_cast<int32_t>(exponent) + 1)) * 0.5F;
    const float low = scaled > -share ? scaled : (scaled <= -share ? -share : 0.0F);
    const float bounded = low < share ? low : share;
    return static_cast<int8_t>(static_cast<int32_t>(RoundToEven(bounded)));
}

/// \param inverse 1 / GetByteShare(workers)
GRADSYNC_HOST_DEVICE inline float
DecodeByteWithExponent(int8_t sum, float inverse, int8_t exponent)
{
    return static_cast<float>(static_cast<int32_t>(sum)) * (inverse * PowerOfTwo(exponent));
}

} // namespace ns3::gradsync

#endif // GRADSYNC_QUANTISER_ARITHMETIC_H
