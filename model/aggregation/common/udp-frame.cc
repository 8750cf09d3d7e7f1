// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/udp-frame.h"

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

using wire::IPV4_AT;
using wire::UDP_AT;
constexpr uint16_t ETHERTYPE_IPV4 = 0x0800;
constexpr uint8_t VERSION_AND_LENGTH = 0x45; // IPv4, five words of header
constexpr uint8_t PROTOCOL_UDP = 17;
constexpr uint8_t TIME_TO_LIVE = 64;
constexpr uint16_t FRAGMENT = 0x3FFF; // more fragments, and the offset
constexpr size_t TTL_AT = IPV4_AT + 8;
constexpr size_t IP_CHECKSUM_AT = IPV4_AT + 10;
constexpr size_t UDP_LENGTH_AT = UDP_AT + 4;
constexpr size_t UDP_CHECKSUM_AT = UDP_AT + 6;

/// Of source and destination address, protocol and length (RFC 768).
uint32_t
SumPseudoHeader(std::span<const uint8_t> frame)
{
    uint32_t sum = PROTOCOL_UDP + uint32_t{load_big_u16(&frame[UDP_LENGTH_AT])};
    for (size_t at = IPV4_AT + 12; at < UDP_AT; at += 2)
    {
        sum += load_big_u16(&frame[at]);
    }
    return sum;
}

/// IPv4 and UDP both say how long the frame is.
bool
AreLengthsRight(std::span<const uint8_t> frame)
{
    return load_big_u16(&frame[IPV4_AT + 2]) == frame.size() - IPV4_AT &&
           load_big_u16(&frame[UDP_LENGTH_AT]) == frame.size() - UDP_AT;
}

/// True when the checksum is not used (0) or right. For a frame whose lengths are right.
bool
IsUdpChecksumRight(std::span<const uint8_t> frame)
{
    return load_big_u16(&frame[UDP_CHECKSUM_AT]) == 0 ||
           ComputeInternetChecksum(frame.subspan(UDP_AT), SumPseudoHeader(frame)) == 0;
}

} // namespace

uint16_t
ComputeInternetChecksum(std::span<const uint8_t> bytes, uint32_t sum)
{
    uint64_t total = sum;
    for (size_t at = 0; at + 1 < bytes.size(); at += 2)
    {
        total += load_big_u16(&bytes[at]);
    }
    if (bytes.size() % 2 != 0)
    {
        total += uint64_t{bytes.back()} << 8;
    }
    while (total > UINT16_MAX)
    {
        total = (total & UINT16_MAX) + (total >> 16);
    }
    return static_cast<uint16_t>(~total);
}

void
WriteUdpHeaders(std::span<uint8_t> bytes,
                const FrameAddress& source,
                const FrameAddress& destination,
                uint16_t udpPort)
{
    std::ranges::copy(destination.mac, bytes.begin());
    std::ranges::copy(source.mac, bytes.begin() + 6);
    store_big_u16(&bytes[12], ETHERTYPE_IPV4);
    bytes[IPV4_AT] = VERSION_AND_LENGTH;
    store_big_u16(&bytes[IPV4_AT + 2], static_cast<uint16_t>(bytes.size() - IPV4_AT));
    bytes[TTL_AT] = TIME_TO_LIVE;
    bytes[IPV4_AT + 9] = PROTOCOL_UDP;
    store_big_u32(&bytes[IPV4_AT + 12], source.ip);
    store_big_u32(&bytes[IPV4_AT + 16], destination.ip);
    store_big_u16(&bytes[UDP_AT], udpPort);
    store_big_u16(&bytes[UDP_AT + 2], udpPort);
    store_big_u16(&bytes[UDP_LENGTH_AT], static_cast<uint16_t>(bytes.size() - UDP_AT));
}

void
WriteChecksums(std::span<uint8_t> frame)
{
    store_big_u16(&frame[IP_CHECKSUM_AT], 0);
    store_big_u16(&frame[IP_CHECKSUM_AT],
                  ComputeInternetChecksum(frame.subspan(IPV4_AT, wire::IPV4_BYTES)));
    store_big_u16(&frame[UDP_CHECKSUM_AT], 0);
    const auto checksum = ComputeInternetChecksum(frame.subspan(UDP_AT), SumPseudoHeader(frame));
    // 0 says that there is none (RFC 768).
    store_big_u16(&frame[UDP_CHECKSUM_AT], checksum == 0 ? UINT16_MAX : checksum);
}

FrameCheck
CheckFrame(std::span<const uint8_t> frame, uint16_t udpPort)
{
    if (frame.size() < UDP_AT || load_big_u16(&frame[12]) != ETHERTYPE_IPV4 ||
        frame[IPV4_AT] != VERSION_AND_LENGTH)
    {
        return FrameCheck::Other;
    }
    const bool isUdp =
        frame[IPV4_AT + 9] == PROTOCOL_UDP && (load_big_u16(&frame[IPV4_AT + 6]) & FRAGMENT) == 0;
    if (isUdp && frame.size() < wire::UDP_PAYLOAD_AT)
    {
        return FrameCheck::Malformed;
    }
    if (ComputeInternetChecksum(frame.subspan(IPV4_AT, wire::IPV4_BYTES)) != 0)
    {
        return FrameCheck::BadChecksum;
    }
    if (!isUdp || load_big_u16(&frame[UDP_AT + 2]) != udpPort)
    {
        return FrameCheck::OtherIpv4;
    }
    if (!AreLengthsRight(frame))
    {
        return FrameCheck::Malformed;
    }
    return IsUdpChecksumRight(frame) ? FrameCheck::Protocol : FrameCheck::BadChecksum;
}

void
ReadAddresses(std::span<const uint8_t> frame, FrameAddress& source, FrameAddress& destination)
{
    std::copy_n(frame.begin(), 6, destination.mac.begin());
    std::copy_n(frame.begin() + 6, 6, source.mac.begin());
    source.ip = load_big_u32(&frame[IPV4_AT + 12]);
    destination.ip = GetDestination(frame);
}

uint32_t
GetDestination(std::span<const uint8_t> frame)
{
    return load_big_u32(&frame[IPV4_AT + 16]);
}

uint8_t
GetTimeToLive(std::span<const uint8_t> frame)
{
    return frame[TTL_AT];
}

bool
DecrementTimeToLive(std::span<uint8_t> frame)
{
    if (frame[TTL_AT] <= 1)
    {
        return false;
    }
    --frame[TTL_AT];
    store_big_u16(&frame[IP_CHECKSUM_AT], 0);
    store_big_u16(&frame[IP_CHECKSUM_AT],
                  ComputeInternetChecksum(frame.subspan(IPV4_AT, wire::IPV4_BYTES)));
    return true;
}

} // namespace ns3::gradsync
