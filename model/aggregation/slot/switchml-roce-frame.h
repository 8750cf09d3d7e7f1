// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SWITCHML_ROCE_FRAME_H
#define GRADSYNC_SWITCHML_ROCE_FRAME_H

#include "ns3/slot-format.h"
#include "ns3/slot-frame.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ns3::gradsync
{

// InfiniBand Architecture Specification vol. 1, 9.3.3 and 9.3.6.
inline constexpr uint32_t RETH_BYTES = 16;
inline constexpr uint32_t IMMEDIATE_BYTES = 4;

inline constexpr uint16_t ROCE_V2_UDP_PORT = 4791;

/// RDMA writes of an unreliable connection: BTH's opcodes (types.p4).
enum class UcWrite : uint8_t
{
    First = 0x26,
    Middle = 0x27,
    LastImmediate = 0x29,
    OnlyImmediate = 0x2B
};

/// The opcode of a packet by its place in its message: SwitchML's writes have an immediate.
UcWrite GetUcWrite(bool isFirst, bool isLast);

/// Numbers of queue pairs. The switch calls its own by worker and index (grpc_server.py); ours of
/// workers are made up, and so are memory keys, which a NIC would choose.
namespace SwitchMlQueuePair
{
/// The switch's, of a worker's queue pair: bit 23 is always set.
constexpr uint32_t
OfSwitch(uint32_t worker, uint32_t index)
{
    return 0x800000 | worker << 16 | index;
}

constexpr uint32_t
OfWorker(uint32_t index)
{
    return 0x100 + index;
}

/// First sequence number in both directions: half of the worker's number (rdma_connection.cc).
constexpr uint32_t
GetFirstSequence(uint32_t index)
{
    return OfWorker(index) / 2;
}

constexpr uint32_t
GetWorkerKey(uint32_t worker)
{
    return 0x1000 + worker;
}

/// All workers have their buffers at this address, as the switch sends what the last of them asked
/// for to all (rdma_connection.cc).
inline constexpr uint64_t BUFFER = uint64_t{1} << 44;
} // namespace SwitchMlQueuePair

/// Sequence numbers have 24 bits.
constexpr uint32_t
FollowSequence(uint32_t sequence)
{
    return (sequence + 1) & 0xFFFFFF;
}

/**
 * A packet of SwitchML's RoCEv2 mode (p4lang/p4app-switchML, dev_root/p4/headers.p4,
 * rdma_receiver.p4, rdma_sender.p4). Which of the fields are there follows from the opcode.
 */
struct SwitchMlRoceFrame
{
    FrameAddress source;
    FrameAddress destination;
    uint16_t sourcePort{0};
    UcWrite opcode{UcWrite::OnlyImmediate};
    uint32_t queuePair{0}; //!< the receiver's, 24 bits
    uint32_t sequence{0};  //!< 24 bits
    // RETH, of the first packet.
    uint64_t address{0}; //!< to write to
    uint32_t key{0};     //!< to the switch: twice the slot, plus the set; from it: of the memory
    uint32_t length{0};  //!< bytes of the message
    // Immediate, of the last packet.
    uint16_t messageId{0}; //!< in the byte order of x86, as the client alone reads it
    int8_t exponentA{0};
    int8_t exponentB{0};
    std::vector<int32_t> values;

    bool HasAddress() const
    {
        return opcode == UcWrite::First || opcode == UcWrite::OnlyImmediate;
    }

    bool HasImmediate() const
    {
        return opcode == UcWrite::LastImmediate || opcode == UcWrite::OnlyImmediate;
    }
};

/// What a packet of the slot protocol is in this mode. \param frame whose ports are left out
SwitchMlRoceFrame MakeSwitchMlRoceFrame(const SlotFrame& frame, const SlotWire& wire);

/// Bytes without FCS. The invariant check sequence is 0: SwitchML has NICs ignore it
/// (dev_root/scripts/disable-icrc.sh), since the switch does not know how to make it.
std::vector<uint8_t> SerialiseSwitchMlRoceFrame(const SwitchMlRoceFrame& frame);

/// Nothing for what is no packet of these writes or has a wrong IPv4 checksum or length.
std::optional<SwitchMlRoceFrame> ParseSwitchMlRoceFrame(std::span<const uint8_t> frame);

} // namespace ns3::gradsync

#endif // GRADSYNC_SWITCHML_ROCE_FRAME_H
