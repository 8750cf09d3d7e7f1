// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-calculation.h"

#include "ns3/p4-limbs.h"
#include "ns3/p4-wire-bits.h"

#include <boost/crc.hpp>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// A one's complement sum: only zeros give 0.
uint64_t
Fold(uint64_t sum)
{
    while (sum >> 16 != 0)
    {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return sum;
}

bool
IsUsed(const P4CalculationInput& input, const uint64_t* store)
{
    return input.valid == 0 || store[input.valid] != 0;
}

uint32_t
CountInputBits(const P4CalculationInput& input, const uint64_t* store)
{
    return input.variableBits == 0 ? input.bits : static_cast<uint32_t>(store[input.variableBits]);
}

/**
 * The Internet checksum without building the bytes: since 2^16 is 1 modulo 65535, a field counts
 * with its value times two to the distance of its end from a 16-bit boundary (RFC 1071, section 2).
 */
uint64_t
SumFields(const P4Calculation& calculation, const uint64_t* store, uint64_t& bits)
{
    uint64_t sum = 0;
    for (const auto& input : calculation.inputs)
    {
        if (!IsUsed(input, store))
        {
            continue;
        }
        const uint32_t width = CountInputBits(input, store);
        bits += width;
        uint64_t value = 0;
        for (uint32_t i = 0; i < limbs::CountFor(width); ++i)
        {
            const uint64_t limb = store[input.slot + i];
            value += (limb & 0xFFFFFFFF) + (limb >> 32);
        }
        sum += Fold(value) << ((16 - bits % 16) % 16);
    }
    return sum;
}

uint64_t
InternetChecksum(const P4Calculation& calculation,
                 const uint64_t* store,
                 std::span<const uint8_t> payload)
{
    uint64_t bits = 0;
    uint64_t sum = SumFields(calculation, store, bits);
    if (calculation.withPayload)
    {
        const bool isOdd = (bits + 7) / 8 % 2 != 0;
        for (size_t i = 0; i < payload.size(); ++i)
        {
            const bool isLow = (i % 2 != 0) != isOdd;
            sum += isLow ? payload[i] : uint64_t{payload[i]} << 8;
        }
    }
    return Fold(sum) ^ 0xFFFF;
}

std::vector<uint8_t>
CollectBytes(const P4Calculation& calculation,
             const uint64_t* store,
             std::span<const uint8_t> payload)
{
    std::vector<uint8_t> bytes;
    uint64_t bits = 0;
    for (const auto& input : calculation.inputs)
    {
        const uint32_t width = IsUsed(input, store) ? CountInputBits(input, store) : 0;
        if (width > 0)
        {
            bytes.resize((bits + width + 7) / 8);
            wire::StoreField(bytes.data(), bits, width, store + input.slot);
            bits += width;
        }
    }
    if (calculation.withPayload)
    {
        bytes.insert(bytes.end(), payload.begin(), payload.end());
    }
    return bytes;
}

template <typename Algorithm>
uint64_t
Crc(std::span<const uint8_t> bytes)
{
    Algorithm crc;
    crc.process_bytes(bytes.data(), bytes.size());
    return crc.checksum();
}

uint64_t
Xor16(std::span<const uint8_t> bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
    {
        value ^= i % 2 == 0 ? uint64_t{bytes[i]} << 8 : bytes[i];
    }
    return value;
}

/// The first eight bytes as a number.
uint64_t
Identity(std::span<const uint8_t> bytes)
{
    uint64_t value = 0;
    for (const uint8_t byte : bytes.first(std::min<size_t>(bytes.size(), 8)))
    {
        value = (value << 8) | byte;
    }
    return value;
}

} // namespace

uint64_t
Calculate(const P4Calculation& calculation, const uint64_t* store, std::span<const uint8_t> payload)
{
    if (calculation.algorithm == P4HashAlgorithm::CSUM16)
    {
        return InternetChecksum(calculation, store, payload);
    }
    const auto bytes = CollectBytes(calculation, store, payload);
    switch (calculation.algorithm)
    {
    case P4HashAlgorithm::XOR16:
        return Xor16(bytes);
    case P4HashAlgorithm::CRC16:
        return Crc<boost::crc_16_type>(bytes);
    case P4HashAlgorithm::CRC32:
        return Crc<boost::crc_32_type>(bytes);
    case P4HashAlgorithm::CSUM16: // above
    case P4HashAlgorithm::IDENTITY:
        break;
    }
    return Identity(bytes);
}

} // namespace ns3::gradsync
