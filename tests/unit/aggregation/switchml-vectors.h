// SPDX-License-Identifier: GPL-2.0-only
// Frames of SwitchML's client and switch, field by field as dev_root/p4/headers.p4 of
// p4lang/p4app-switchML lays them out, made without the code that is tested.
#ifndef GRADSYNC_SWITCHML_VECTORS_H
#define GRADSYNC_SWITCHML_VECTORS_H

#include "ns3/udp-frame.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ns3::gradsync::vectors
{

/// Fields one behind the other, the highest bit first.
class Fields
{
  public:
    Fields& Put(uint64_t value, uint32_t bits)
    {
        for (; bits > 0; --bits)
        {
            if (m_bits % 8 == 0)
            {
                bytes.push_back(0);
            }
            bytes.back() |= static_cast<uint8_t>((value >> (bits - 1) & 1) << (7 - m_bits % 8));
            ++m_bits;
        }
        return *this;
    }

    Fields& Put(const std::vector<int32_t>& values)
    {
        for (const auto value : values)
        {
            Put(static_cast<uint32_t>(value), 32);
        }
        return *this;
    }

    std::vector<uint8_t> bytes;

  private:
    uint32_t m_bits{0};
};

/// The ones' complement of the ones' complement sum of 16-bit words (RFC 1071).
inline uint16_t
SumUp(const std::vector<uint8_t>& bytes, size_t from, size_t to, uint32_t sum = 0)
{
    for (auto at = from; at < to; at += 2)
    {
        sum += static_cast<uint32_t>(bytes[at] << 8) + (at + 1 < to ? bytes[at + 1] : 0U);
    }
    while (sum > 0xFFFF)
    {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return static_cast<uint16_t>(~sum);
}

/// What differs in the headers below SwitchML's.
struct Envelope
{
    FrameAddress source;
    FrameAddress destination;
    uint16_t sourcePort;
    uint16_t destinationPort;
    uint8_t diffserv{0};
    uint16_t identification{0};
    uint8_t flags{0};
    uint8_t hops{64};
    bool hasUdpChecksum{false};
};

inline void
PutMac(Fields& fields, const FrameAddress& address)
{
    for (const auto byte : address.mac)
    {
        fields.Put(byte, 8);
    }
}

/// ethernet_h, ipv4_h, udp_h and what is above them.
inline std::vector<uint8_t>
Wrap(const Envelope& envelope, const std::vector<uint8_t>& payload)
{
    Fields frame;
    PutMac(frame, envelope.destination);
    PutMac(frame, envelope.source);
    frame.Put(0x0800, 16);
    const auto udpBytes = 8 + payload.size();
    frame.Put(4, 4).Put(5, 4).Put(envelope.diffserv, 8).Put(20 + udpBytes, 16);
    frame.Put(envelope.identification, 16).Put(envelope.flags, 3).Put(0, 13);
    frame.Put(envelope.hops, 8).Put(17, 8).Put(0, 16);
    frame.Put(envelope.source.ip, 32).Put(envelope.destination.ip, 32);
    frame.Put(envelope.sourcePort, 16).Put(envelope.destinationPort, 16);
    frame.Put(udpBytes, 16).Put(0, 16);
    auto bytes = frame.bytes;
    const auto store = [&bytes](size_t at, uint16_t value) {
        bytes[at] = static_cast<uint8_t>(value >> 8);
        bytes[at + 1] = static_cast<uint8_t>(value & 0xFF);
    };
    store(24, SumUp(bytes, 14, 34));
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    if (envelope.hasUdpChecksum)
    {
        // Of the pseudo header: addresses (bytes 26 to 33), protocol, length.
        const auto pseudo =
            static_cast<uint16_t>(~SumUp(bytes, 26, 34, static_cast<uint32_t>(17 + udpBytes)));
        store(40, SumUp(bytes, 34, bytes.size(), pseudo));
    }
    return bytes;
}

/// switchml_h, exponents_h and the values.
struct SwitchMl
{
    uint8_t size; //!< packet_size_t
    uint8_t job;
    uint32_t packet;
    uint8_t set;
    uint16_t slot;
    int8_t exponent;
    int8_t otherExponent;
    std::vector<int32_t> values;
};

inline std::vector<uint8_t>
Encode(const SwitchMl& packet)
{
    Fields fields;
    fields.Put(1, 4).Put(0, 1).Put(packet.size, 3).Put(packet.job, 8);
    // The client stores it as x86 does, the lowest byte first.
    for (uint32_t shift = 0; shift < 32; shift += 8)
    {
        fields.Put(packet.packet >> shift & 0xFF, 8);
    }
    fields.Put(packet.set, 1).Put(packet.slot, 15);
    fields.Put(static_cast<uint8_t>(packet.exponent), 8);
    fields.Put(static_cast<uint8_t>(packet.otherExponent), 8);
    return fields.Put(packet.values).bytes;
}

struct Reth
{
    uint64_t address;
    uint32_t key;
    uint32_t length;
};

struct Immediate
{
    uint16_t message;
    int8_t exponent;
    int8_t otherExponent;
};

/// ib_bth_h, ib_reth_h, ib_immediate_h, the values and ib_icrc_h.
struct Write
{
    uint8_t opcode;
    uint32_t queuePair;
    uint32_t sequence;
    std::optional<Reth> reth;
    std::optional<Immediate> immediate;
    std::vector<int32_t> values;
};

inline std::vector<uint8_t>
Encode(const Write& packet)
{
    Fields fields;
    fields.Put(packet.opcode, 8).Put(0, 1).Put(1, 1).Put(0, 2).Put(0, 4).Put(0xFFFF, 16);
    fields.Put(0, 1).Put(0, 1).Put(0, 6).Put(packet.queuePair, 24);
    fields.Put(0, 1).Put(0, 7).Put(packet.sequence, 24);
    if (packet.reth)
    {
        fields.Put(packet.reth->address, 64).Put(packet.reth->key, 32).Put(packet.reth->length, 32);
    }
    if (packet.immediate)
    {
        // The message's number is the client's own, the lowest byte first.
        fields.Put(packet.immediate->message & 0xFF, 8).Put(packet.immediate->message >> 8, 8);
        fields.Put(static_cast<uint8_t>(packet.immediate->exponent), 8);
        fields.Put(static_cast<uint8_t>(packet.immediate->otherExponent), 8);
    }
    return fields.Put(packet.values).Put(0, 32).bytes;
}

} // namespace ns3::gradsync::vectors

#endif // GRADSYNC_SWITCHML_VECTORS_H
