// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/switchml-roce-frame.h"

#include "ns3/wire-format.h"

#include <boost/endian/conversion.hpp>
#include <cstddef>

namespace ns3::gradsync
{

namespace endian = boost::endian;

namespace
{

constexpr size_t UC_IP = wire::ETHERNET_BYTES;
constexpr size_t UC_UDP = UC_IP + wire::IPV4_BYTES;
constexpr size_t UC_BTH = UC_UDP + wire::UDP_BYTES;
constexpr size_t UC_BEHIND_BTH = UC_BTH + wire::BTH_BYTES;
// rdma_sender.p4: ECN-capable, identification 1, not to be fragmented.
constexpr uint8_t UC_DIFFSERV = 2;
constexpr uint16_t UC_IDENTIFICATION = 1;
constexpr uint16_t UC_DO_NOT_FRAGMENT = 0x4000;
constexpr uint8_t UC_MIGRATED = 0x40; //!< migration request, no padding, version 0
constexpr uint16_t UC_PARTITION = 0xFFFF;
// UDP source ports: the switch's has the worker (rdma_sender.p4), a NIC chooses its own.
constexpr uint32_t UC_SWITCH_PORT = 0x8000;
constexpr uint32_t UC_WORKER_PORT = 0xC000;

size_t
GetExtensionBytes(const SwitchMlRoceFrame& frame)
{
    return (frame.HasAddress() ? RETH_BYTES : 0) + (frame.HasImmediate() ? IMMEDIATE_BYTES : 0);
}

void
WriteBth(std::span<uint8_t> bytes, const SwitchMlRoceFrame& frame)
{
    auto* at = &bytes[UC_BTH];
    at[0] = static_cast<uint8_t>(frame.opcode);
    at[1] = UC_MIGRATED;
    endian::store_big_u16(at + 2, UC_PARTITION);
    endian::store_big_u32(at + 4, frame.queuePair & 0xFFFFFF);
    endian::store_big_u32(at + 8, frame.sequence & 0xFFFFFF); // no acknowledgement is asked for
}

/// RETH and immediate, as far as they are there. \returns where the values begin
size_t
WriteExtensions(std::span<uint8_t> bytes, const SwitchMlRoceFrame& frame)
{
    auto at = UC_BEHIND_BTH;
    if (frame.HasAddress())
    {
        endian::store_big_u64(&bytes[at], frame.address);
        endian::store_big_u32(&bytes[at + 8], frame.key);
        endian::store_big_u32(&bytes[at + 12], frame.length);
        at += RETH_BYTES;
    }
    if (frame.HasImmediate())
    {
        endian::store_little_u16(&bytes[at], frame.messageId);
        bytes[at + 2] = static_cast<uint8_t>(frame.exponentA);
        bytes[at + 3] = static_cast<uint8_t>(frame.exponentB);
        at += IMMEDIATE_BYTES;
    }
    return at;
}

size_t
ReadExtensions(std::span<const uint8_t> bytes, SwitchMlRoceFrame& frame)
{
    auto at = UC_BEHIND_BTH;
    if (frame.HasAddress())
    {
        frame.address = endian::load_big_u64(&bytes[at]);
        frame.key = endian::load_big_u32(&bytes[at + 8]);
        frame.length = endian::load_big_u32(&bytes[at + 12]);
        at += RETH_BYTES;
    }
    if (frame.HasImmediate())
    {
        frame.messageId = endian::load_little_u16(&bytes[at]);
        frame.exponentA = static_cast<int8_t>(bytes[at + 2]);
        frame.exponentB = static_cast<int8_t>(bytes[at + 3]);
        at += IMMEDIATE_BYTES;
    }
    return at;
}

bool
IsUcWrite(uint8_t opcode)
{
    return opcode == static_cast<uint8_t>(UcWrite::First) ||
           opcode == static_cast<uint8_t>(UcWrite::Middle) ||
           opcode == static_cast<uint8_t>(UcWrite::LastImmediate) ||
           opcode == static_cast<uint8_t>(UcWrite::OnlyImmediate);
}

} // namespace

UcWrite
GetUcWrite(bool isFirst, bool isLast)
{
    if (isLast)
    {
        return isFirst ? UcWrite::OnlyImmediate : UcWrite::LastImmediate;
    }
    return isFirst ? UcWrite::First : UcWrite::Middle;
}

SwitchMlRoceFrame
MakeSwitchMlRoceFrame(const SlotFrame& frame, const SlotWire& wire)
{
    const auto& header = frame.header;
    const bool isResult = header.messageType == static_cast<uint8_t>(SlotMessage::Result);
    const auto index = wire.GetQueuePair(header.slot);
    SwitchMlRoceFrame made;
    made.source = frame.source;
    made.destination = frame.destination;
    made.sourcePort =
        static_cast<uint16_t>(isResult ? UC_SWITCH_PORT | header.worker : UC_WORKER_PORT | index);
    made.opcode = GetUcWrite(wire.IsFirst(header.slot), wire.IsLast(header.slot));
    made.queuePair = isResult ? SwitchMlQueuePair::OfWorker(index)
                              : SwitchMlQueuePair::OfSwitch(header.worker, index);
    made.sequence = header.sequence;
    if (made.HasAddress())
    {
        made.length = uint32_t{4} * wire.valueCount * wire.messagePackets;
        made.address = SwitchMlQueuePair::BUFFER + uint64_t{made.length} * index;
        made.key = isResult ? SwitchMlQueuePair::GetWorkerKey(header.worker)
                            : 2 * uint32_t{header.slot} + header.GetSet();
    }
    if (made.HasImmediate())
    {
        made.messageId = static_cast<uint16_t>(header.offset);
        made.exponentA = header.exponentA;
        made.exponentB = header.exponentB;
    }
    made.values = frame.values;
    return made;
}

std::vector<uint8_t>
SerialiseSwitchMlRoceFrame(const SwitchMlRoceFrame& frame)
{
    std::vector<uint8_t> bytes(UC_BEHIND_BTH + GetExtensionBytes(frame) + 4 * frame.values.size() +
                               wire::ICRC_BYTES);
    WriteUdpHeaders(bytes, frame.source, frame.destination, ROCE_V2_UDP_PORT);
    endian::store_big_u16(&bytes[UC_UDP], frame.sourcePort);
    bytes[UC_IP + 1] = UC_DIFFSERV;
    endian::store_big_u16(&bytes[UC_IP + 4], UC_IDENTIFICATION);
    endian::store_big_u16(&bytes[UC_IP + 6], UC_DO_NOT_FRAGMENT);
    WriteBth(bytes, frame);
    auto at = WriteExtensions(bytes, frame);
    for (const auto value : frame.values)
    {
        endian::store_big_u32(&bytes[at], static_cast<uint32_t>(value));
        at += 4;
    }
    WriteChecksums(bytes);
    endian::store_big_u16(&bytes[UC_UDP + 6], 0); // RoCEv2 has none
    return bytes;
}

std::optional<SwitchMlRoceFrame>
ParseSwitchMlRoceFrame(std::span<const uint8_t> frame)
{
    if (frame.size() < UC_BEHIND_BTH || !IsUcWrite(frame[UC_BTH]) ||
        CheckFrame(frame, ROCE_V2_UDP_PORT) != FrameCheck::Protocol)
    {
        return std::nullopt;
    }
    SwitchMlRoceFrame parsed;
    parsed.opcode = static_cast<UcWrite>(frame[UC_BTH]);
    const auto least = UC_BEHIND_BTH + GetExtensionBytes(parsed) + wire::ICRC_BYTES;
    if (frame.size() < least || (frame.size() - least) % 4 != 0)
    {
        return std::nullopt;
    }
    ReadAddresses(frame, parsed.source, parsed.destination);
    parsed.sourcePort = endian::load_big_u16(&frame[UC_UDP]);
    parsed.queuePair = endian::load_big_u32(&frame[UC_BTH + 4]) & 0xFFFFFF;
    parsed.sequence = endian::load_big_u32(&frame[UC_BTH + 8]) & 0xFFFFFF;
    for (auto at = ReadExtensions(frame, parsed); at < frame.size() - wire::ICRC_BYTES; at += 4)
    {
        parsed.values.push_back(static_cast<int32_t>(endian::load_big_u32(&frame[at])));
    }
    return parsed;
}

} // namespace ns3::gradsync
