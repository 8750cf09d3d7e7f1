// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-header.h"

#include "ns3/byte-order.h"

namespace ns3::gradsync
{

std::array<uint8_t, SlotHeader::BYTES>
SerialiseSlotHeader(const SlotHeader& header)
{
    std::array<uint8_t, SlotHeader::BYTES> bytes{};
    bytes[0] = header.messageType;
    bytes[1] = header.flags;
    WriteBigEndian<uint16_t>(bytes, 2, header.job);
    WriteBigEndian<uint16_t>(bytes, 4, header.worker);
    WriteBigEndian<uint16_t>(bytes, 6, header.count);
    WriteBigEndian<uint16_t>(bytes, 8, header.slot);
    WriteBigEndian<uint16_t>(bytes, 10, header.epoch);
    WriteBigEndian<uint32_t>(bytes, 12, header.offset);
    bytes[16] = static_cast<uint8_t>(header.exponentA);
    bytes[17] = static_cast<uint8_t>(header.exponentB);
    WriteBigEndian<uint16_t>(bytes, 18, header.reserved);
    return bytes;
}

SlotHeader
ParseSlotHeader(std::span<const uint8_t> bytes)
{
    return {.messageType = bytes[0],
            .flags = bytes[1],
            .job = ReadBigEndian<uint16_t>(bytes, 2),
            .worker = ReadBigEndian<uint16_t>(bytes, 4),
            .count = ReadBigEndian<uint16_t>(bytes, 6),
            .slot = ReadBigEndian<uint16_t>(bytes, 8),
            .epoch = ReadBigEndian<uint16_t>(bytes, 10),
            .offset = ReadBigEndian<uint32_t>(bytes, 12),
            .exponentA = static_cast<int8_t>(bytes[16]),
            .exponentB = static_cast<int8_t>(bytes[17]),
            .reserved = ReadBigEndian<uint16_t>(bytes, 18)};
}

} // namespace ns3::gradsync
