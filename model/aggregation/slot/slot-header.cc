// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-header.h"

#include <boost/endian/conversion.hpp>

namespace ns3::gradsync
{

using boost::endian::load_big_u16;
using boost::endian::load_big_u32;
using boost::endian::store_big_u16;
using boost::endian::store_big_u32;

std::array<uint8_t, SlotHeader::BYTES>
SerialiseSlotHeader(const SlotHeader& header)
{
    std::array<uint8_t, SlotHeader::BYTES> bytes{};
    bytes[0] = header.messageType;
    bytes[1] = header.flags;
    store_big_u16(&bytes[2], header.job);
    store_big_u16(&bytes[4], header.worker);
    store_big_u16(&bytes[6], header.count);
    store_big_u16(&bytes[8], header.slot);
    store_big_u16(&bytes[10], header.epoch);
    store_big_u32(&bytes[12], header.offset);
    bytes[16] = static_cast<uint8_t>(header.exponentA);
    bytes[17] = static_cast<uint8_t>(header.exponentB);
    store_big_u16(&bytes[18], header.reserved);
    return bytes;
}

SlotHeader
ParseSlotHeader(std::span<const uint8_t> bytes)
{
    return {.messageType = bytes[0],
            .flags = bytes[1],
            .job = load_big_u16(&bytes[2]),
            .worker = load_big_u16(&bytes[4]),
            .count = load_big_u16(&bytes[6]),
            .slot = load_big_u16(&bytes[8]),
            .epoch = load_big_u16(&bytes[10]),
            .offset = load_big_u32(&bytes[12]),
            .exponentA = static_cast<int8_t>(bytes[16]),
            .exponentB = static_cast<int8_t>(bytes[17]),
            .reserved = load_big_u16(&bytes[18])};
}

} // namespace ns3::gradsync
