// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_LIMBS_H
#define GRADSYNC_P4_LIMBS_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

/*
 * Arithmetic on numbers of several 64-bit limbs, the lowest limb first, in two's complement: what
 * P4 needs for fields wider than 64 bits. The result may be any of the operands unless said
 * otherwise.
 */
namespace ns3::gradsync::limbs
{

/// Limbs that hold so many bits; at least one.
constexpr uint32_t
CountFor(uint64_t bits)
{
    return bits <= 64 ? 1 : static_cast<uint32_t>((bits + 63) / 64);
}

/// The lowest `bits` bits set, for 0 to 64.
constexpr uint64_t
LowMask(uint32_t bits)
{
    return bits == 0 ? 0 : ~uint64_t{0} >> (64 - bits);
}

inline bool
IsNegative(const uint64_t* a, uint32_t n)
{
    return (a[n - 1] >> 63) != 0;
}

inline bool
IsZero(const uint64_t* a, uint32_t n)
{
    return std::all_of(a, a + n, [](uint64_t limb) { return limb == 0; });
}

inline void
Add(uint64_t* out, const uint64_t* a, const uint64_t* b, uint32_t n)
{
    uint64_t carry = 0;
    for (uint32_t i = 0; i < n; ++i)
    {
        const uint64_t sum = a[i] + b[i];
        const uint64_t total = sum + carry;
        carry = static_cast<uint64_t>(sum < a[i]) | static_cast<uint64_t>(total < sum);
        out[i] = total;
    }
}

inline void
Subtract(uint64_t* out, const uint64_t* a, const uint64_t* b, uint32_t n)
{
    uint64_t borrow = 0;
    for (uint32_t i = 0; i < n; ++i)
    {
        const uint64_t difference = a[i] - b[i];
        const uint64_t total = difference - borrow;
        borrow = static_cast<uint64_t>(a[i] < b[i]) | static_cast<uint64_t>(difference < borrow);
        out[i] = total;
    }
}

/// The product modulo 2^(64 n); `out` must be neither operand.
inline void
Multiply(uint64_t* out, const uint64_t* a, const uint64_t* b, uint32_t n)
{
    __extension__ using Wide = unsigned __int128;
    std::fill(out, out + n, 0);
    for (uint32_t i = 0; i < n; ++i)
    {
        uint64_t carry = 0;
        for (uint32_t j = 0; i + j < n; ++j)
        {
            const Wide product = Wide{a[i]} * b[j] + out[i + j] + carry;
            out[i + j] = static_cast<uint64_t>(product);
            carry = static_cast<uint64_t>(product >> 64);
        }
    }
}

/// a << bits; `out` may be a.
inline void
ShiftLeft(uint64_t* out, const uint64_t* a, uint64_t bits, uint32_t n)
{
    const uint64_t whole = std::min<uint64_t>(bits / 64, n);
    const uint32_t part = bits % 64;
    for (uint32_t i = n; i-- > 0;)
    {
        const uint64_t high = i >= whole ? a[i - whole] : 0;
        const uint64_t low = i > whole ? a[i - whole - 1] : 0;
        out[i] = part == 0 ? high : (high << part) | (low >> (64 - part));
    }
}

/// a >> bits with `fill` (0 or all ones) from above; `out` may be a.
inline void
ShiftRight(uint64_t* out, const uint64_t* a, uint64_t bits, uint32_t n, uint64_t fill)
{
    const uint64_t whole = std::min<uint64_t>(bits / 64, n);
    const uint32_t part = bits % 64;
    for (uint32_t i = 0; i < n; ++i)
    {
        const uint64_t low = i + whole < n ? a[i + whole] : fill;
        const uint64_t high = i + whole + 1 < n ? a[i + whole + 1] : fill;
        out[i] = part == 0 ? low : (low >> part) | (high << (64 - part));
    }
}

/// -1, 0 or 1 as unsigned numbers compare.
inline int
Compare(const uint64_t* a, const uint64_t* b, uint32_t n)
{
    for (uint32_t i = n; i-- > 0;)
    {
        if (a[i] != b[i])
        {
            return a[i] < b[i] ? -1 : 1;
        }
    }
    return 0;
}

/// -1, 0 or 1 as signed numbers compare.
inline int
CompareSigned(const uint64_t* a, const uint64_t* b, uint32_t n)
{
    const bool negative = IsNegative(a, n);
    if (negative != IsNegative(b, n))
    {
        return negative ? -1 : 1;
    }
    return Compare(a, b, n);
}

/// Copies m limbs to n and fills up with zeros or, if so said, with copies of the sign bit.
inline void
Extend(uint64_t* out, uint32_t n, const uint64_t* a, uint32_t m, bool isSigned)
{
    const uint64_t fill = isSigned && IsNegative(a, m) ? ~uint64_t{0} : 0;
    std::memmove(out, a, size_t{std::min(n, m)} * sizeof(uint64_t));
    std::fill(out + std::min(n, m), out + n, fill);
}

/// Keeps the lowest `bits` bits and copies the highest of them upwards.
inline void
SignExtend(uint64_t* out, const uint64_t* a, uint32_t bits, uint32_t n)
{
    std::memmove(out, a, size_t{n} * sizeof(uint64_t));
    const uint32_t limb = (bits - 1) / 64;
    const uint32_t unused = 64 * (limb + 1) - bits;
    out[limb] = static_cast<uint64_t>(static_cast<int64_t>(out[limb] << unused) >> unused);
    std::fill(out + limb + 1, out + n, IsNegative(out, limb + 1) ? ~uint64_t{0} : 0);
}

/// The number in decimal, with a minus where it is signed and negative.
std::string ToDecimal(const uint64_t* a, uint32_t n, bool isSigned);

/// Quotient and remainder of unsigned numbers. The divisor must not be zero.
void Divide(uint64_t* quotient,
            uint64_t* remainder,
            const uint64_t* a,
            const uint64_t* b,
            uint32_t n);

} // namespace ns3::gradsync::limbs

#endif // GRADSYNC_P4_LIMBS_H
