// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_STOCHASTIC_ARITHMETIC_H
#define GRADSYNC_STOCHASTIC_ARITHMETIC_H

#include "ns3/philox.h"
#include "ns3/quantiser-arithmetic.h"

#include <cmath>

/// The formulas of the codecs that draw random numbers, shared by the CPU and the CUDA kernels.
namespace ns3::gradsync
{

/// Which random numbers a message draws. Workers have seeds of their own, lest their errors agree.
struct RandomStream
{
    uint64_t seed;
    uint64_t message; //!< counted from 0
};

/// Numbers of the elements 4 group, ..., 4 group + 3.
GRADSYNC_HOST_DEVICE inline PhiloxBlock
DrawFour(const RandomStream& stream, uint64_t group)
{
    return Philox4x32(
        {{static_cast<uint32_t>(group),
          static_cast<uint32_t>(group >> 32),
          static_cast<uint32_t>(stream.message),
          static_cast<uint32_t>(stream.message >> 32)}},
        {{static_cast<uint32_t>(stream.seed), static_cast<uint32_t>(stream.seed >> 32)}});
}

/**
 * One of the two whole numbers next to `scaled`, the upper one with the probability of its
 * fraction, cut to 31 bits: the mean is below `scaled` by less than 2^-31.
 * \param scaled what is not in [0, levels] is cut there, NaN to 0
 */
GRADSYNC_HOST_DEVICE inline uint32_t
RoundAtRandom(float scaled, float levels, uint32_t random)
{
    const float low = scaled > 0.0F ? scaled : 0.0F;
    const float bounded = low < levels ? low : levels;
    const auto whole = static_cast<int32_t>(bounded);
    // The fraction is exact, and at most 1 - 2^-24. Signed, as SSE2 compares and converts.
    const float fraction = bounded - static_cast<float>(whole);
    const auto limit = static_cast<int32_t>(fraction * 0x1p31F);
    return static_cast<uint32_t>(whole + (static_cast<int32_t>(random >> 1) < limit ? 1 : 0));
}

/// Sums of squares go over so many lanes: a warp of threads with a vector of four each.
inline constexpr uint32_t SQUARE_LANES = 128;

/// Elements whose squares one warp adds, of what TernGrad's scaler depends on.
inline constexpr uint32_t TERNARY_STRIP_ELEMENTS = 4096;

/// A scale below this is sent as 0: its inverse times the most levels must be finite.
inline constexpr float SMALLEST_STOCHASTIC_SCALE = 0x1p-120F;

/// Most levels of QSGD: with the sign they fill a byte.
inline constexpr uint32_t MAX_QSGD_LEVELS = 127;

/// Bits of a code: the sign above the level, 2, 4 or 8 together so that none lies in two bytes.
GRADSYNC_HOST_DEVICE constexpr uint32_t
GetQsgdBits(uint32_t levels)
{
    return levels == 1 ? 2 : (levels <= 7 ? 4 : 8);
}

/**
 * The Euclidean norm of a bucket as it is sent. One that no float holds is the largest float: what
 * is decoded has the right mean with any that no element exceeds. NaN with an infinity or NaN in
 * the bucket, which then decodes to NaN throughout.
 * \param squares their sum
 */
GRADSYNC_HOST_DEVICE inline float
MakeQsgdNorm(double squares)
{
    constexpr double LARGEST = 0x1.fffffep127;
    const double norm = sqrt(squares);
    const float bounded = static_cast<float>(norm < LARGEST ? norm : LARGEST);
    const float sent = bounded < SMALLEST_STOCHASTIC_SCALE ? 0.0F : bounded;
    return squares < 0x1p1000 ? sent : FromBits(FLOAT_NAN);
}

/// By what the encoder multiplies; 0 where there is nothing to send.
GRADSYNC_HOST_DEVICE inline float
GetQsgdInverse(float norm, uint32_t levels)
{
    return norm > 0.0F ? static_cast<float>(levels) / norm : 0.0F;
}

/// By what the decoder multiplies.
GRADSYNC_HOST_DEVICE inline float
GetQsgdStep(float norm, uint32_t levels)
{
    return MakeCanonical(norm / static_cast<float>(levels));
}

/**
 * QSGD's code of a value (Alistarh et al., NeurIPS'17, section 3.1): the level, and above it the
 * sign, which 0 does not have.
 * \param levels a whole number; \param bits GetQsgdBits of it
 */
GRADSYNC_HOST_DEVICE inline uint32_t
EncodeQsgd(float value, float inverse, float levels, uint32_t random, uint32_t bits)
{
    const float magnitude = FromBits(MagnitudeKey(value));
    const uint32_t level = RoundAtRandom(magnitude * inverse, levels, random);
    const uint32_t sign = level > 0 ? ToBits(value) >> 31 : 0U;
    return level | sign << (bits - 1);
}

GRADSYNC_HOST_DEVICE inline float
DecodeQsgd(uint32_t code, float step, uint32_t bits)
{
    const auto level = static_cast<int32_t>(code & ((1U << (bits - 1)) - 1U));
    const uint32_t sign = code << (32 - bits) & FLOAT_SIGN;
    return MakeCanonical(FromBits(ToBits(static_cast<float>(level) * step) | sign));
}

/**
 * TernGrad's scaler (Wen et al., NeurIPS'17, section 3.2): the largest magnitude, or what clipping
 * leaves of it. The deviation is that about 0, where the paper has the mean of gradients: about
 * the mean, equal elements would be clipped to nothing. NaN with an infinity or NaN in the tensor,
 * which then decodes to NaN throughout.
 * \param maximumKey the largest MagnitudeKey
 * \param squares sum over all `count` elements
 * \param clipDeviations 0: no clipping
 */
GRADSYNC_HOST_DEVICE inline float
MakeTernaryScaler(uint32_t maximumKey, double squares, uint64_t count, double clipDeviations)
{
    if (!IsKeyFinite(maximumKey))
    {
        return FromBits(FLOAT_NAN);
    }
    const float maximum = FromBits(maximumKey);
    const double limit = clipDeviations * sqrt(squares / static_cast<double>(count));
    const bool isClipped = clipDeviations > 0.0 && limit < static_cast<double>(maximum);
    const float scaler = isClipped ? static_cast<float>(limit) : maximum;
    return scaler < SMALLEST_STOCHASTIC_SCALE ? 0.0F : scaler;
}

/// By what the encoder multiplies; 0 where there is nothing to send.
GRADSYNC_HOST_DEVICE inline float
GetTernaryInverse(float scaler)
{
    return scaler > 0.0F ? 1.0F / scaler : 0.0F;
}

/// A code of two-bit; what exceeds the scaler is clipped to it.
GRADSYNC_HOST_DEVICE inline uint32_t
EncodeTernary(float value, float inverse, uint32_t random)
{
    const float magnitude = FromBits(MagnitudeKey(value));
    const uint32_t level = RoundAtRandom(magnitude * inverse, 1.0F, random);
    const uint32_t code = value < 0.0F ? TWO_BIT_MINUS : TWO_BIT_PLUS;
    return level > 0 ? code : 0U;
}

GRADSYNC_HOST_DEVICE inline float
DecodeTernary(uint32_t code, float scaler)
{
    return MagnitudeKey(scaler) > FLOAT_INFINITY ? FromBits(FLOAT_NAN) : DecodeTwoBit(code, scaler);
}

/// Signs in a word, the first element lowest; a bit is set where the element is negative.
inline constexpr uint32_t SIGNS_PER_WORD = 32;

/// Zeros and NaN have no sign, and a bit cannot say so: theirs is a fair coin.
GRADSYNC_HOST_DEVICE inline bool
HasSign(float value)
{
    return value < 0.0F || value > 0.0F;
}

/// A coin for each element of a word of signs.
GRADSYNC_HOST_DEVICE inline uint32_t
DrawCoins(const RandomStream& stream, uint64_t word)
{
    const PhiloxBlock four = DrawFour(stream, word / 4);
    const uint32_t low = word % 2 == 0 ? four.words[0] : four.words[1];
    const uint32_t high = word % 2 == 0 ? four.words[2] : four.words[3];
    return word % 4 < 2 ? low : high;
}

/// \param magnitude of what is decoded
GRADSYNC_HOST_DEVICE inline float
DecodeSign(uint32_t bit, float magnitude)
{
    return bit != 0 ? -magnitude : magnitude;
}

inline constexpr uint32_t VOTE_PLANES = 12;
inline constexpr uint32_t MAX_VOTERS = (1U << VOTE_PLANES) - 1;

/// How many of the voters have the bit set, for each bit of a word: plane p has bit p of the count.
struct VoteCount
{
    uint32_t planes[VOTE_PLANES];
};

GRADSYNC_HOST_DEVICE inline void
AddVotes(uint32_t votes, VoteCount& count)
{
    uint32_t carry = votes;
    for (uint32_t plane = 0; plane < VOTE_PLANES; ++plane)
    {
        const uint32_t both = count.planes[plane] & carry;
        count.planes[plane] ^= carry;
        carry = both;
    }
}

/// The bits that more than half of the voters set, and those that exactly half set.
struct VoteResult
{
    uint32_t majority;
    uint32_t ties;
};

GRADSYNC_HOST_DEVICE inline VoteResult
CloseVote(const VoteCount& count, uint32_t voters)
{
    const uint32_t half = voters / 2;
    VoteResult result{0U, ~0U};
    for (uint32_t i = 0; i < VOTE_PLANES; ++i)
    {
        const uint32_t plane = count.planes[VOTE_PLANES - 1 - i];
        const uint32_t bit = (half >> (VOTE_PLANES - 1 - i) & 1U) != 0 ? ~0U : 0U;
        result.majority |= result.ties & plane & ~bit;
        result.ties &= ~(plane ^ bit);
    }
    // Half of an odd number is no tie, but less than a majority.
    result.ties = voters % 2 == 0 ? result.ties : 0U;
    return result;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_STOCHASTIC_ARITHMETIC_H
