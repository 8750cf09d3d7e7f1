// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WIRE_FORMAT_H
#define GRADSYNC_WIRE_FORMAT_H

#include <algorithm>
#include <cstdint>

namespace ns3::gradsync::wire
{

// Ethernet, IEEE 802.3: what a frame costs beyond its bytes from destination MAC to FCS.
inline constexpr uint32_t PREAMBLE_BYTES = 8; // preamble and start-of-frame delimiter
inline constexpr uint32_t GAP_BYTES = 12;     // inter-frame gap
inline constexpr uint32_t ETHERNET_BYTES = 14;
inline constexpr uint32_t FCS_BYTES = 4;
inline constexpr uint32_t MIN_FRAME_BYTES = 64;

inline constexpr uint32_t IPV4_BYTES = 20; // RFC 791, no options
inline constexpr uint32_t UDP_BYTES = 8;   // RFC 768

// Offsets in a frame of Ethernet, IPv4 and UDP: of both headers, and of what UDP carries.
inline constexpr uint32_t IPV4_AT = ETHERNET_BYTES;
inline constexpr uint32_t UDP_AT = IPV4_AT + IPV4_BYTES;
inline constexpr uint32_t UDP_PAYLOAD_AT = UDP_AT + UDP_BYTES;

// RoCEv2: InfiniBand Architecture Specification vol. 1, 9.2 (BTH), 9.3.5 (AETH), 7.8 (ICRC), annex
// A17.
inline constexpr uint32_t BTH_BYTES = 12;
inline constexpr uint32_t AETH_BYTES = 4;
inline constexpr uint32_t ICRC_BYTES = 4;

/// Wire bytes of a frame of `frameBytes` from destination MAC to FCS: padded, with preamble and
/// gap.
constexpr uint32_t
OnWire(uint32_t frameBytes)
{
    return PREAMBLE_BYTES + std::max(frameBytes, MIN_FRAME_BYTES) + GAP_BYTES;
}

/// Headers of a RoCEv2 SEND packet from Ethernet to FCS.
inline constexpr uint32_t ROCE_HEADER_BYTES = UDP_PAYLOAD_AT + BTH_BYTES + ICRC_BYTES + FCS_BYTES;

/// A RoCEv2 data packet (SEND first, middle, last or only: BTH, no extended header).
constexpr uint32_t
RoceDataBytes(uint32_t payloadBytes)
{
    return OnWire(ROCE_HEADER_BYTES + payloadBytes);
}

/// A RoCEv2 acknowledge packet, positive or negative: BTH and AETH.
inline constexpr uint32_t ROCE_ACK_BYTES = OnWire(ROCE_HEADER_BYTES + AETH_BYTES);

/// In-band telemetry on data packets and on the acknowledgements that return it: five hops of 8
/// bytes and 2 bytes (HPCC, SIGCOMM 2019, section 4.1).
inline constexpr uint32_t TELEMETRY_BYTES = 42;

/// A RoCEv2 congestion notification packet: BTH and 16 reserved bytes (annex A17.9.3).
inline constexpr uint32_t ROCE_CNP_BYTES = OnWire(ROCE_HEADER_BYTES + 16);

/// A priority-based flow control frame (IEEE 802.1Qbb): a MAC control frame of minimum size.
inline constexpr uint32_t PFC_BYTES = OnWire(MIN_FRAME_BYTES);

static_assert(RoceDataBytes(1418) == 1500);
static_assert(ROCE_ACK_BYTES == 86);
static_assert(ROCE_CNP_BYTES == 98);
static_assert(PFC_BYTES == 84);

} // namespace ns3::gradsync::wire

#endif // GRADSYNC_WIRE_FORMAT_H
