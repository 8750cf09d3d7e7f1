// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-frame.h"

#include "ns3/crc32.h"
#include "ns3/wire-format.h"

#include <algorithm>
#include <cstddef>

namespace ns3::gradsync
{

namespace
{

constexpr uint8_t LOSSLESS_PRIORITY = 3;
constexpr uint8_t DATA_DSCP = 26;
constexpr uint8_t CNP_DSCP = 48;
constexpr uint16_t ROCE_PORT = 4791; // annex A17.2

// BTH operation codes of the reliable connection service, table 38; CNP: annex A17.9.3.
constexpr uint8_t SEND_FIRST = 0x00;
constexpr uint8_t SEND_MIDDLE = 0x01;
constexpr uint8_t SEND_LAST = 0x02;
constexpr uint8_t SEND_ONLY = 0x04;
constexpr uint8_t ACKNOWLEDGE = 0x11;
constexpr uint8_t NOTIFICATION = 0x81;

constexpr uint8_t BECN = 0x40; // beside the queue pair number, annex A17.9.3

// AETH syndromes, table 45: without end-to-end credits; PSN sequence error.
constexpr uint8_t SYNDROME_ACK = 0x1f;
constexpr uint8_t SYNDROME_NAK = 0x60;

/// Appends numbers in network order.
class FrameWriter
{
  public:
    FrameWriter& Put(uint64_t value, size_t bytes)
    {
        for (size_t i = bytes; i-- > 0;)
        {
            m_frame.push_back(static_cast<uint8_t>(value >> (8 * i)));
        }
        return *this;
    }

    /// Locally administered, one a node.
    void PutMac(uint32_t node)
    {
        Put(0x0200, 2).Put(node, 4);
    }

    void PutZeros(size_t bytes)
    {
        m_frame.resize(m_frame.size() + bytes);
    }

    std::vector<uint8_t>& GetFrame()
    {
        return m_frame;
    }

  private:
    std::vector<uint8_t> m_frame;
};

uint32_t
GetAddress(uint32_t endpoint)
{
    return 0x0a000001 + endpoint; // 10.0.0.1 and on
}

std::vector<uint8_t>
MakePauseFrame(const FabricPacket& packet, const RoceFrameInfo& info)
{
    FrameWriter writer;
    writer.Put(0x0180c2000001, 6); // multicast to the next node
    writer.PutMac(info.senderNode);
    writer.Put(0x8808, 2).Put(0x0101, 2); // MAC control, priority-based flow control
    writer.Put(uint64_t{1} << LOSSLESS_PRIORITY, 2);
    for (uint8_t priority = 0; priority < 8; ++priority)
    {
        const bool stops = priority == LOSSLESS_PRIORITY && packet.kind == PacketKind::Pause;
        writer.Put(stops ? 0xffff : 0, 2); // quanta; 0 lets it go
    }
    writer.GetFrame().resize(wire::MIN_FRAME_BYTES - wire::FCS_BYTES);
    return std::move(writer.GetFrame());
}

uint16_t
ComputeIpChecksum(const uint8_t* header)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < wire::IPV4_BYTES; i += 2)
    {
        sum += (uint32_t{header[i]} << 8) | header[i + 1];
    }
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<uint16_t>(~sum);
}

uint8_t
GetTrafficClass(const FabricPacket& packet)
{
    const auto dscp = packet.kind == PacketKind::Cnp ? CNP_DSCP : DATA_DSCP;
    uint8_t ecn = (packet.flags & PacketFlag::ECN_CAPABLE) != 0 ? 2 : 0; // ECT(0), RFC 3168
    if ((packet.flags & PacketFlag::CONGESTION_EXPERIENCED) != 0)
    {
        ecn = 3;
    }
    return static_cast<uint8_t>(dscp << 2 | ecn);
}

/// From destination MAC to FCS, without the latter.
size_t
GetFrameBytes(const FabricPacket& packet)
{
    return packet.wireBytes - wire::PREAMBLE_BYTES - wire::GAP_BYTES - wire::FCS_BYTES;
}

/// From destination MAC to ICRC: without what pads the shortest frames.
size_t
GetContentBytes(const FabricPacket& packet)
{
    const auto frame = GetFrameBytes(packet);
    const auto content = size_t{wire::ROCE_HEADER_BYTES - wire::FCS_BYTES} + packet.payloadBytes;
    return frame == wire::MIN_FRAME_BYTES - wire::FCS_BYTES ? std::min(frame, content) : frame;
}

void
PutIpAndUdp(FrameWriter& writer, const FabricPacket& packet, const RoceFrameInfo& info)
{
    const auto ipBytes = GetContentBytes(packet) - wire::ETHERNET_BYTES;
    const auto start = writer.GetFrame().size();
    writer.Put(0x45, 1).Put(GetTrafficClass(packet), 1).Put(ipBytes, 2);
    writer.Put(0, 2).Put(0x4000, 2); // do not fragment
    writer.Put(64, 1).Put(17, 1).Put(0, 2);
    writer.Put(GetAddress(info.sourceEndpoint), 4).Put(GetAddress(packet.destination), 4);
    auto* header = writer.GetFrame().data() + start;
    const auto checksum = ComputeIpChecksum(header);
    header[10] = static_cast<uint8_t>(checksum >> 8);
    header[11] = static_cast<uint8_t>(checksum);
    // The source port is what ECMP hashes; no checksum (annex A17.4.5).
    writer.Put(0xc000 | (packet.flowHash & 0x3fff), 2).Put(ROCE_PORT, 2);
    writer.Put(ipBytes - wire::IPV4_BYTES, 2).Put(0, 2);
}

uint8_t
GetOperationCode(const FabricPacket& packet, bool isFirst)
{
    if (packet.kind == PacketKind::Cnp)
    {
        return NOTIFICATION;
    }
    if (packet.kind != PacketKind::Data)
    {
        return ACKNOWLEDGE;
    }
    if ((packet.flags & PacketFlag::END_OF_MESSAGE) != 0)
    {
        return isFirst ? SEND_ONLY : SEND_LAST;
    }
    return isFirst ? SEND_FIRST : SEND_MIDDLE;
}

/// Over what no switch changes: the rest counts as ones (IBA 7.8.1, annex A17.4.4).
void
PutInvariantCrc(FrameWriter& writer)
{
    constexpr size_t IP = wire::IPV4_AT;
    constexpr size_t UDP = wire::UDP_AT;
    constexpr size_t BTH = wire::UDP_PAYLOAD_AT;
    std::vector<uint8_t> covered(8, 0xff);
    const auto& frame = writer.GetFrame();
    covered.insert(covered.end(), frame.begin() + IP, frame.end());
    for (const size_t changing : {IP + 1, IP + 8, IP + 10, IP + 11, UDP + 6, UDP + 7, BTH + 4})
    {
        covered[8 + changing - IP] = 0xff;
    }
    const auto crc = CRC32Calculate(covered.data(), static_cast<int>(covered.size()));
    for (int shift = 0; shift < 32; shift += 8) // least significant byte first
    {
        writer.Put(crc >> shift & 0xff, 1);
    }
}

} // namespace

std::vector<uint8_t>
MakeRoceFrame(const FabricPacket& packet, const RoceFrameInfo& info)
{
    if (packet.kind == PacketKind::Pause || packet.kind == PacketKind::Resume)
    {
        return MakePauseFrame(packet, info);
    }
    FrameWriter writer;
    writer.PutMac(info.receiverNode);
    writer.PutMac(info.senderNode);
    writer.Put(0x0800, 2);
    PutIpAndUdp(writer, packet, info);
    writer.Put(GetOperationCode(packet, info.isFirst), 1).Put(0, 1).Put(0xffff, 2); // partition
    const bool asksForAck = (packet.flags & PacketFlag::END_OF_MESSAGE) != 0;
    const auto sequence = packet.kind == PacketKind::Ack ? packet.psn - 1 : packet.psn;
    writer.Put(packet.kind == PacketKind::Cnp ? BECN : 0, 1);
    writer.Put(info.destinationPair & 0xffffff, 3);
    writer.Put(asksForAck ? 0x80 : 0, 1);
    writer.Put(packet.kind == PacketKind::Cnp ? 0 : sequence & 0xffffff, 3);
    if (packet.kind == PacketKind::Ack || packet.kind == PacketKind::Nak)
    {
        writer.Put(packet.kind == PacketKind::Ack ? SYNDROME_ACK : SYNDROME_NAK, 1);
        writer.PutZeros(3);
    }
    auto& frame = writer.GetFrame();
    frame.insert(frame.end(), info.payload.begin(), info.payload.end());
    frame.resize(GetContentBytes(packet) - wire::ICRC_BYTES);
    PutInvariantCrc(writer);
    writer.GetFrame().resize(GetFrameBytes(packet));
    return std::move(writer.GetFrame());
}

} // namespace ns3::gradsync
