// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/atp-frame.h"

#include "ns3/wire-format.h"

#include <boost/endian/conversion.hpp>

namespace ns3::gradsync
{

using boost::endian::load_big_u16;
using boost::endian::load_big_u32;
using boost::endian::store_big_u16;
using boost::endian::store_big_u32;

namespace
{

constexpr size_t HEADER = wire::UDP_PAYLOAD_AT;
constexpr size_t VALUES = HEADER + AtpWireHeader::BYTES;

} // namespace

void
WriteAtpPayload(std::span<uint8_t> frame,
                const AtpWireHeader& header,
                std::span<const int32_t> values)
{
    const auto bits = static_cast<uint16_t>(
        uint32_t{header.fanIns[0]} % 32 << 11 | uint32_t{header.fanIns[1]} % 32 << 6 |
        uint32_t{header.overflow} << 5 | uint32_t{header.ecn} << 4 | uint32_t{header.resend} << 3 |
        uint32_t{header.collision} << 2 | uint32_t{header.ack} << 1 | uint32_t{header.level});
    store_big_u32(&frame[HEADER], header.bitmaps[0]);
    store_big_u32(&frame[HEADER + 4], header.bitmaps[1]);
    store_big_u16(&frame[HEADER + 8], bits);
    store_big_u16(&frame[HEADER + 10], header.job);
    store_big_u16(&frame[HEADER + 12], header.sequence);
    store_big_u16(&frame[HEADER + 14], header.indices[0]);
    store_big_u16(&frame[HEADER + 16], header.indices[1]);
    for (size_t i = 0; i < values.size(); ++i)
    {
        store_big_u32(&frame[VALUES + 4 * i], static_cast<uint32_t>(values[i]));
    }
}

AtpWireHeader
ReadAtpHeader(std::span<const uint8_t> frame)
{
    const uint32_t bits = load_big_u16(&frame[HEADER + 8]);
    return {.bitmaps = {load_big_u32(&frame[HEADER]), load_big_u32(&frame[HEADER + 4])},
            .fanIns = {static_cast<uint8_t>(bits >> 11), static_cast<uint8_t>(bits >> 6 & 31)},
            .overflow = (bits >> 5 & 1) != 0,
            .ecn = (bits >> 4 & 1) != 0,
            .resend = (bits >> 3 & 1) != 0,
            .collision = (bits >> 2 & 1) != 0,
            .ack = (bits >> 1 & 1) != 0,
            .level = static_cast<uint8_t>(bits & 1),
            .job = load_big_u16(&frame[HEADER + 10]),
            .sequence = load_big_u16(&frame[HEADER + 12]),
            .indices = {load_big_u16(&frame[HEADER + 14]), load_big_u16(&frame[HEADER + 16])}};
}

std::vector<int32_t>
ReadAtpValues(std::span<const uint8_t> frame, size_t count)
{
    std::vector<int32_t> values(count);
    for (size_t i = 0; i < count; ++i)
    {
        values[i] = static_cast<int32_t>(load_big_u32(&frame[VALUES + 4 * i]));
    }
    return values;
}

size_t
GetAtpFrameBytes(size_t values)
{
    return VALUES + 4 * values;
}

} // namespace ns3::gradsync
