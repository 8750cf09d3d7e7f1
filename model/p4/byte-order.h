// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BYTE_ORDER_H
#define GRADSYNC_BYTE_ORDER_H

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ns3::gradsync
{

/// Network byte order at one place of a packet. \param at the first byte; bytes must hold it all
template <std::unsigned_integral T>
constexpr T
ReadBigEndian(std::span<const uint8_t> bytes, size_t at)
{
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(T); ++i)
    {
        value = value << 8 | bytes[at + i];
    }
    return static_cast<T>(value);
}

template <std::unsigned_integral T>
constexpr void
WriteBigEndian(std::span<uint8_t> bytes, size_t at, T value)
{
    for (size_t i = 0; i < sizeof(T); ++i)
    {
        bytes[at + i] = static_cast<uint8_t>(uint64_t{value} >> (8 * (sizeof(T) - 1 - i)));
    }
}

} // namespace ns3::gradsync

#endif // GRADSYNC_BYTE_ORDER_H
