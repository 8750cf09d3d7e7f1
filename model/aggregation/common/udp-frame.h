// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_UDP_FRAME_H
#define GRADSYNC_UDP_FRAME_H

#include <array>
#include <cstdint>
#include <span>

namespace ns3::gradsync
{

/// An address of both layers.
struct FrameAddress
{
    std::array<uint8_t, 6> mac{};
    uint32_t ip{0};

    bool operator==(const FrameAddress&) const = default;
};

/// What a switch finds when it looks at the headers of a frame.
enum class FrameCheck : uint8_t
{
    Protocol,    //!< IPv4, UDP to the protocol's port, lengths right, checksums right or not used
    BadChecksum, //!< IPv4 header or UDP
    Malformed,   //!< UDP that is cut off, or to that port with a length that is not its own
    OtherIpv4,   //!< fragments too
    Other        //!< no IPv4 without options, or too short
};

/// In the order of a switch: addresses, IPv4 header checksum, UDP port, lengths, UDP checksum.
/// \param udpPort of the protocol
FrameCheck CheckFrame(std::span<const uint8_t> frame, uint16_t udpPort);

/// The headers before the payload of a frame of Ethernet, IPv4 and UDP, its checksum apart.
void WriteUdpHeaders(std::span<uint8_t> bytes,
                     const FrameAddress& source,
                     const FrameAddress& destination,
                     uint16_t udpPort);

/// Makes the checksums of IPv4 and UDP right. For a frame whose lengths are right.
void WriteChecksums(std::span<uint8_t> frame);

/// Both layers' addresses of a frame of at least 34 bytes.
void ReadAddresses(std::span<const uint8_t> frame, FrameAddress& source, FrameAddress& destination);

/// IPv4 destination address of a frame of at least 34 bytes.
uint32_t GetDestination(std::span<const uint8_t> frame);

/// IPv4 time to live of a frame of at least 34 bytes.
uint8_t GetTimeToLive(std::span<const uint8_t> frame);

/// One hop less to live, and the IPv4 header checksum that goes with it; false if this was the
/// last.
bool DecrementTimeToLive(std::span<uint8_t> frame);

/// The Internet checksum (RFC 1071) of bytes whose ones' complement sum starts with `sum`.
uint16_t ComputeInternetChecksum(std::span<const uint8_t> bytes, uint32_t sum = 0);

} // namespace ns3::gradsync

#endif // GRADSYNC_UDP_FRAME_H
