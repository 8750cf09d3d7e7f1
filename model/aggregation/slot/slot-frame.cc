// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-frame.h"

#include "ns3/wire-format.h"

#include <algorithm>
#include <boost/endian/conversion.hpp>

namespace ns3::gradsync
{

using boost::endian::load_big_u16;
using boost::endian::load_big_u32;
using boost::endian::store_big_u16;
using boost::endian::store_big_u32;

namespace
{

using wire::UDP_AT;
using wire::UDP_PAYLOAD_AT;
constexpr size_t VALUES_AT = UDP_PAYLOAD_AT + SlotHeader::BYTES;

} // namespace

std::vector<uint8_t>
SerialiseSlotFrame(const SlotFrame& frame)
{
    std::vector<uint8_t> bytes(VALUES_AT + 4 * frame.values.size());
    WriteUdpHeaders(bytes, frame.source, frame.destination, frame.destinationPort);
    store_big_u16(&bytes[UDP_AT], frame.sourcePort);
    std::ranges::copy(SerialiseSlotHeader(frame.header), bytes.begin() + UDP_PAYLOAD_AT);
    for (size_t i = 0; i < frame.values.size(); ++i)
    {
        store_big_u32(&bytes[VALUES_AT + 4 * i], static_cast<uint32_t>(frame.values[i]));
    }
    WriteChecksums(bytes);
    return bytes;
}

std::optional<SlotFrame>
ParseSlotFrame(std::span<const uint8_t> frame)
{
    if (frame.size() < VALUES_AT)
    {
        return std::nullopt;
    }
    SlotFrame parsed;
    ReadAddresses(frame, parsed.source, parsed.destination);
    parsed.sourcePort = load_big_u16(&frame[UDP_AT]);
    parsed.destinationPort = load_big_u16(&frame[UDP_AT + 2]);
    parsed.header = ParseSlotHeader(frame.subspan(UDP_PAYLOAD_AT));
    if (frame.size() != VALUES_AT + size_t{4} * parsed.header.count)
    {
        return std::nullopt;
    }
    for (size_t i = 0; i < parsed.header.count; ++i)
    {
        parsed.values.push_back(static_cast<int32_t>(load_big_u32(&frame[VALUES_AT + 4 * i])));
    }
    return parsed;
}

} // namespace ns3::gradsync
