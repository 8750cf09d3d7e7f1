// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_WIRE_BITS_H
#define GRADSYNC_P4_WIRE_BITS_H

#include "ns3/p4-limbs.h"

#include <boost/endian/conversion.hpp>
#include <cstdint>

/*
 * Fields in packets: numbers of any width at any bit, the highest bit first, to and from limbs.
 */
namespace ns3::gradsync::wire
{

/// At most 64 bits from the bit at `offset`; reads no byte that has none of them.
inline uint64_t
LoadBits(const uint8_t* bytes, uint64_t offset, uint32_t bits)
{
    const uint8_t* first = bytes + offset / 8;
    const uint32_t skip = offset % 8;
    const uint32_t count = (skip + bits + 7) / 8;
    __extension__ unsigned __int128 value = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        value = (value << 8) | first[i];
    }
    return static_cast<uint64_t>(value >> (8 * count - skip - bits)) & limbs::LowMask(bits);
}

/// At most 64 bits to the bit at `offset`; the bits around them stay.
inline void
StoreBits(uint8_t* bytes, uint64_t offset, uint32_t bits, uint64_t value)
{
    uint8_t* first = bytes + offset / 8;
    const uint32_t skip = offset % 8;
    const uint32_t count = (skip + bits + 7) / 8;
    const uint32_t behind = 8 * count - skip - bits;
    __extension__ using Wide = unsigned __int128;
    const Wide mask = Wide{limbs::LowMask(bits)} << behind;
    const Wide shifted = (Wide{value} << behind) & mask;
    for (uint32_t i = 0; i < count; ++i)
    {
        const uint32_t shift = 8 * (count - 1 - i);
        const auto kept = static_cast<uint8_t>(~(mask >> shift));
        first[i] = static_cast<uint8_t>((first[i] & kept) | static_cast<uint8_t>(shifted >> shift));
    }
}

/// A field of any width to its limbs.
inline void
LoadField(uint64_t* out, const uint8_t* bytes, uint64_t offset, uint32_t bits)
{
    uint32_t left = bits;
    for (; left > 64; left -= 64, ++out)
    {
        const uint64_t at = offset + left - 64;
        *out = at % 8 == 0 ? boost::endian::load_big_u64(bytes + at / 8) : LoadBits(bytes, at, 64);
    }
    *out = LoadBits(bytes, offset, left);
}

/// A field of any width from its limbs.
inline void
StoreField(uint8_t* bytes, uint64_t offset, uint32_t bits, const uint64_t* value)
{
    uint32_t left = bits;
    for (; left > 64; left -= 64, ++value)
    {
        const uint64_t at = offset + left - 64;
        if (at % 8 == 0)
        {
            boost::endian::store_big_u64(bytes + at / 8, *value);
        }
        else
        {
            StoreBits(bytes, at, 64, *value);
        }
    }
    StoreBits(bytes, offset, left, *value);
}

} // namespace ns3::gradsync::wire

#endif // GRADSYNC_P4_WIRE_BITS_H
