// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ATP_FRAME_H
#define GRADSYNC_ATP_FRAME_H

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// UDP port of ATP.
inline constexpr uint16_t ATP_UDP_PORT = 0xBEE1;
/// Integers of an ATP packet (NSDI 2021, section 3.2).
inline constexpr uint16_t ATP_VALUES = 62;

/// The header of ATP on the wire (p4-behavioral/README.md), with a bitmap, fan-in and aggregator
/// index for each of two levels of switches.
struct AtpWireHeader
{
    static constexpr uint32_t BYTES = 18;

    std::array<uint32_t, 2> bitmaps{};
    std::array<uint8_t, 2> fanIns{}; //!< 5 bits each
    bool overflow{false};
    bool ecn{false};
    bool resend{false};
    bool collision{false};
    bool ack{false};  //!< the parameter server's answer
    uint8_t level{0}; //!< 0 or 1: whose bitmap, fan-in and index count at the next switch
    uint16_t job{0};
    uint16_t sequence{0};
    std::array<uint16_t, 2> indices{};

    bool operator==(const AtpWireHeader&) const = default;
};

/// Writes header and values behind the UDP header of a frame, which must have room for them.
void WriteAtpPayload(std::span<uint8_t> frame,
                     const AtpWireHeader& header,
                     std::span<const int32_t> values);

/// Of a frame that has at least the header of ATP.
AtpWireHeader ReadAtpHeader(std::span<const uint8_t> frame);

/// The `count` values of a frame that has them.
std::vector<int32_t> ReadAtpValues(std::span<const uint8_t> frame, size_t count);

/// Bytes of a frame with so many values, without FCS: 308 with 62.
size_t GetAtpFrameBytes(size_t values);

} // namespace ns3::gradsync

#endif // GRADSYNC_ATP_FRAME_H
