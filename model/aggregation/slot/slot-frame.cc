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

constexpr size_t IP = wire::ETHERNET_BYTES;       //!< offset of the IPv4 header
constexpr size_t UDP = IP + wire::IPV4_BYTES;     //!< of the UDP header
constexpr size_t PAYLOAD = UDP + wire::UDP_BYTES; //!< of the slot header
constexpr size_t VALUES = PAYLOAD + SlotHeader::BYTES;

} // namespace

std::vector<uint8_t>
SerialiseSlotFrame(const SlotFrame& frame)
{
    std::vector<uint8_t> bytes(VALUES + 4 * frame.values.size());
    WriteUdpHeaders(bytes, frame.source, frame.destination, frame.destinationPort);
    store_big_u16(&bytes[UDP], frame.sourcePort);
    std::ranges::copy(SerialiseSlotHeader(frame.header), bytes.begin() + PAYLOAD);
    for (size_t i = 0; i < frame.values.size(); ++i)
    {
        store_big_u32(&bytes[VALUES + 4 * i], static_cast<uint32_t>(frame.values[i]));
    }
    WriteChecksums(bytes);
    return bytes;
}

std::optional<SlotFrame>
ParseSlotFrame(std::span<const uint8_t> frame)
{
    if (frame.size() < VALUES)
    {
        return std::nullopt;
    }
    SlotFrame parsed;
    ReadAddresses(frame, parsed.source, parsed.destination);
    parsed.sourcePort = load_big_u16(&frame[UDP]);
    parsed.destinationPort = load_big_u16(&frame[UDP + 2]);
    parsed.header = ParseSlotHeader(frame.subspan(PAYLOAD));
    if (frame.size() != VALUES + size_t{4} * parsed.header.count)
    {
        return std::nullopt;
    }
    for (size_t i = 0; i < parsed.header.count; ++i)
    {
        parsed.values.push_back(static_cast<int32_t>(load_big_u32(&frame[VALUES + 4 * i])));
    }
    return parsed;
}

} // namespace ns3::gradsync
