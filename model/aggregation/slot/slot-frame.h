// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_FRAME_H
#define GRADSYNC_SLOT_FRAME_H

#include "ns3/slot-header.h"
#include "ns3/udp-frame.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// UDP port of the slot protocol, at the switch.
inline constexpr uint16_t SLOT_UDP_PORT = 0xBEE0;

/// A packet of the slot protocol with all its headers.
struct SlotFrame
{
    FrameAddress source;
    FrameAddress destination;
    uint16_t sourcePort{SLOT_UDP_PORT};
    uint16_t destinationPort{SLOT_UDP_PORT};
    SlotHeader header;
    std::vector<int32_t> values;
};

/**
 * The bytes of a frame from destination MAC to the last value, without FCS: Ethernet, IPv4 (RFC
 * 791: no options, identification 0, time to live 64), UDP (RFC 768, with checksum), slot header,
 * values. 318 bytes with 64 values.
 */
std::vector<uint8_t> SerialiseSlotFrame(const SlotFrame& frame);

/// Of a frame that CheckFrame calls Protocol. Nothing when it does not end with the `count` values.
std::optional<SlotFrame> ParseSlotFrame(std::span<const uint8_t> frame);

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_FRAME_H
