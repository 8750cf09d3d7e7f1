// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_FORMAT_H
#define GRADSYNC_SLOT_FORMAT_H

#include <cstdint>

namespace ns3::gradsync
{

/// What packets of the slot protocol look like on the wire (doc/aggregation.rst).
enum SlotFormat
{
    FORMAT_SLOT,         //!< our own header, with an epoch of 16 bits
    FORMAT_SWITCHML,     //!< SwitchML's header above UDP
    FORMAT_SWITCHML_ROCE //!< SwitchML's RoCEv2 mode: writes of unreliable connections
};

/// A format with its sizes.
struct SlotWire
{
    SlotFormat format{FORMAT_SLOT};
    uint16_t valueCount{64};    //!< of a packet
    uint32_t messagePackets{1}; //!< packets of a message; 1 but in RoCEv2

    /// Of an epoch only the lowest bit is on the wire.
    bool HasVersionBit() const
    {
        return format != FORMAT_SLOT;
    }

    bool HasQueuePairs() const
    {
        return format == FORMAT_SWITCHML_ROCE;
    }

    /// The message of a slot goes through as many slots side by side, which have one queue pair.
    uint32_t GetQueuePair(uint32_t slot) const
    {
        return slot / messagePackets;
    }

    /// The first packet of a message.
    bool IsFirst(uint32_t slot) const
    {
        return slot % messagePackets == 0;
    }

    bool IsLast(uint32_t slot) const
    {
        return slot % messagePackets == messagePackets - 1;
    }

    /// Bytes of a packet between the UDP header and the frame's check sequence, without its values.
    uint32_t GetHeaderBytes(uint32_t slot) const;
    /// Bytes of a packet on the wire, preamble and gap included.
    uint16_t GetWireBytes(uint32_t slot) const;
};

/// What SwitchML's published program can do (p4lang/p4app-switchML).
namespace SwitchMlLimit
{
inline constexpr uint32_t WORKERS = 32; //!< bits of a bitmap (configuration.p4)
/// Half of its registers' cells, as a slot has two (configuration.p4).
inline constexpr uint32_t SLOTS = 8192;
inline constexpr uint32_t QUEUE_PAIRS = 512; //!< of a worker (configuration.p4)
/// Packets of 256 and 1,024 bytes; others it drops (next_step_selector.py).
inline constexpr uint32_t FEW_VALUES = 64;
inline constexpr uint32_t MANY_VALUES = 256;
} // namespace SwitchMlLimit

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_FORMAT_H
