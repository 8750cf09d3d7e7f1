// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SWITCHML_FRAME_H
#define GRADSYNC_SWITCHML_FRAME_H

#include "ns3/slot-frame.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// Bytes above UDP before the values: switchml_h and exponents_h.
inline constexpr uint32_t SWITCHML_HEADER_BYTES = 10;

/// UDP port of the switch is one of 16 (types.p4); the client takes the first (dpdk_backend.cc).
inline constexpr uint16_t SWITCHML_UDP_PORT = 0xBEE0;
inline constexpr uint16_t SWITCHML_UDP_MASK = 0xFFF0;
/// Of the first thread of a worker (client_lib/src/configs/dpdk.cfg).
inline constexpr uint16_t SWITCHML_WORKER_PORT = 4000;

/**
 * A frame as the client of SwitchML over UDP sends it, or as its switch answers, without FCS
 * (p4lang/p4app-switchML, dev_root/p4/headers.p4, udp_sender.p4;
 * dev_root/client_lib/src/backends/dpdk/dpdk_worker_thread_utils.inc). Of the header on the wire
 * are, in this order: type 1 in both directions and the size of the packet, the number of the
 * aggregation, the packet's number in it, which the client alone reads and writes in the byte order
 * of x86, the set and the slot, the exponents. Job and worker are known by the addresses alone. A
 * contribution has a UDP checksum and 128 hops to live, a result no checksum and 64.
 * \param frame whose header's messageType tells which of the two it is. 64 or 256 values
 */
std::vector<uint8_t> SerialiseSwitchMlFrame(const SlotFrame& frame);

/// The other way round; job and worker of the header are 0. Nothing for a frame with a wrong
/// checksum, to another port than `udpPort` under the mask, or whose length is not that of its
/// size.
std::optional<SlotFrame> ParseSwitchMlFrame(std::span<const uint8_t> frame,
                                            uint16_t udpPort,
                                            uint16_t mask);

} // namespace ns3::gradsync

#endif // GRADSYNC_SWITCHML_FRAME_H
