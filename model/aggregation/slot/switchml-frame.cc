// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/switchml-frame.h"

#include "ns3/wire-format.h"

#include <boost/endian/conversion.hpp>
#include <cstddef>

namespace ns3::gradsync
{

namespace endian = boost::endian;

namespace
{

constexpr size_t SML_IP = wire::ETHERNET_BYTES;
constexpr size_t SML_UDP = SML_IP + wire::IPV4_BYTES;
constexpr size_t SML_HEADER = SML_UDP + wire::UDP_BYTES;
constexpr size_t SML_VALUES = SML_HEADER + SWITCHML_HEADER_BYTES;
constexpr uint8_t SML_CLIENT_HOPS = 128;
constexpr uint8_t SML_TYPE = 1; //!< of contributions and of results
constexpr uint16_t SML_SET_BIT = 0x8000;
constexpr uint16_t SML_SLOT_MASK = 0x3FFF;

/// packet_size_t of types.p4: 128 bytes shifted by it.
uint8_t
GetSizeCode(size_t values)
{
    uint8_t code = 0;
    while (size_t{32} << code < values)
    {
        ++code;
    }
    return code;
}

} // namespace

std::vector<uint8_t>
SerialiseSwitchMlFrame(const SlotFrame& frame)
{
    const auto& header = frame.header;
    const bool isResult = header.messageType == static_cast<uint8_t>(SlotMessage::Result);
    std::vector<uint8_t> bytes(SML_VALUES + 4 * frame.values.size());
    WriteUdpHeaders(bytes, frame.source, frame.destination, frame.destinationPort);
    endian::store_big_u16(&bytes[SML_UDP], frame.sourcePort);
    auto* at = &bytes[SML_HEADER];
    at[0] = static_cast<uint8_t>(SML_TYPE << 4 | GetSizeCode(frame.values.size()));
    at[1] = header.aggregation;
    endian::store_little_u32(at + 2, header.offset);
    endian::store_big_u16(at + 6,
                          static_cast<uint16_t>((header.GetSet() != 0 ? SML_SET_BIT : 0) |
                                                (header.slot & SML_SLOT_MASK)));
    at[8] = static_cast<uint8_t>(header.exponentA);
    at[9] = static_cast<uint8_t>(header.exponentB);
    for (size_t i = 0; i < frame.values.size(); ++i)
    {
        endian::store_big_u32(&bytes[SML_VALUES + 4 * i], static_cast<uint32_t>(frame.values[i]));
    }
    if (!isResult)
    {
        bytes[SML_IP + 8] = SML_CLIENT_HOPS;
    }
    WriteChecksums(bytes);
    if (isResult)
    {
        endian::store_big_u16(&bytes[SML_UDP + 6], 0);
    }
    return bytes;
}

std::optional<SlotFrame>
ParseSwitchMlFrame(std::span<const uint8_t> frame, uint16_t udpPort, uint16_t mask)
{
    if (frame.size() < SML_VALUES)
    {
        return std::nullopt;
    }
    const auto port = endian::load_big_u16(&frame[SML_UDP + 2]);
    const auto* at = &frame[SML_HEADER];
    const auto values = size_t{32} << (at[0] & 7);
    if ((port & mask) != (udpPort & mask) || CheckFrame(frame, port) != FrameCheck::Protocol ||
        at[0] >> 4 != SML_TYPE || frame.size() != SML_VALUES + 4 * values)
    {
        return std::nullopt;
    }
    SlotFrame parsed;
    ReadAddresses(frame, parsed.source, parsed.destination);
    parsed.sourcePort = endian::load_big_u16(&frame[SML_UDP]);
    parsed.destinationPort = port;
    const auto pool = endian::load_big_u16(at + 6);
    auto& header = parsed.header;
    header.count = static_cast<uint16_t>(values);
    header.aggregation = at[1];
    header.offset = endian::load_little_u32(at + 2);
    header.epoch = (pool & SML_SET_BIT) != 0 ? 1 : 0;
    header.slot = pool & SML_SLOT_MASK;
    header.exponentA = static_cast<int8_t>(at[8]);
    header.exponentB = static_cast<int8_t>(at[9]);
    for (size_t i = 0; i < values; ++i)
    {
        parsed.values.push_back(
            static_cast<int32_t>(endian::load_big_u32(&frame[SML_VALUES + 4 * i])));
    }
    return parsed;
}

} // namespace ns3::gradsync
