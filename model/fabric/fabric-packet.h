// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FABRIC_PACKET_H
#define GRADSYNC_FABRIC_PACKET_H

#include <cstdint>

namespace ns3::gradsync
{

/// Simulator time steps since the start; plain integers because Time objects are slow per packet.
using TimeStepCount = int64_t;

/// What a packet is. Everything but Data travels before it, in strict priority.
enum class PacketKind : uint8_t
{
    Data,
    Ack,
    Nak,
    Cnp,    //!< congestion notification (RoCEv2, IBA annex A17.9.3)
    Pause,  //!< PFC XOFF (IEEE 802.1Qbb), consumed by the next node
    Resume, //!< PFC XON
    Flood   //!< background traffic of a fault: ends at the next node
};

/// Bits of FabricPacket::flags.
namespace PacketFlag
{
inline constexpr uint8_t END_OF_MESSAGE = 1;
inline constexpr uint8_t ECN_CAPABLE = 2;            //!< ECT (RFC 3168): switches may mark it
inline constexpr uint8_t CONGESTION_EXPERIENCED = 4; //!< CE
inline constexpr uint8_t TELEMETRY = 8;              //!< feedback is a record of the PacketPool
inline constexpr uint8_t PROGRAM = 16;   //!< for switch programs; feedback is their own record
inline constexpr uint8_t DEPARTURE = 32; //!< a program is told when it leaves its queue
inline constexpr uint8_t DROPPABLE = 64; //!< goes where queues are long (drop precedence, RFC 2597)
} // namespace PacketFlag

/// What a packet has wherever it is, also on its way to another process.
struct PacketFields
{
    uint32_t connection; //!< index of the connection at the transport
    uint32_t generation; //!< of that connection: recycled ones ignore packets of their former lives
    uint32_t psn;        //!< packet sequence number; for Ack and Nak the next one expected
    uint32_t destination; //!< endpoint index
    uint32_t flowHash;    //!< same for all packets of a connection and direction
    uint32_t feedback;    //!< what congestion control measures; see CongestionSignals
    uint16_t payloadBytes;
    uint16_t wireBytes; //!< with all headers, preamble and inter-frame gap

    union {
        uint16_t ingressPort; //!< Data: port by which it entered the node where it waits
        uint16_t sackOffset;  //!< Nak: how far after psn the packet is that made it; 0: unknown
    };

    PacketKind kind;
    uint8_t flags; //!< see PacketFlag
};

/**
 * A packet inside the fabric: metadata only, no payload, linked by an intrusive pointer. Its true
 * wire format counts in wireBytes (wire-format.h).
 */
struct alignas(64) FabricPacket : PacketFields
{
    FabricPacket* next;
    TimeStepCount arrival;     //!< when its last bit is at the far end of the link that it is on
    TimeStepCount nextArrival; //!< that of the packet behind it on the link, if there is one
};

static_assert(sizeof(FabricPacket) == 64, "a packet is one cache line");

/// First-in first-out list of packets through their intrusive pointers.
class PacketFifo
{
  public:
    bool IsEmpty() const
    {
        return m_head == nullptr;
    }

    FabricPacket* Front() const
    {
        return m_head;
    }

    /// Must not be empty.
    FabricPacket* Back() const
    {
        return m_tail;
    }

    void Push(FabricPacket* packet)
    {
        packet->next = nullptr;
        if (m_head)
        {
            m_tail->next = packet;
        }
        else
        {
            m_head = packet;
        }
        m_tail = packet;
    }

    /// Must not be empty.
    FabricPacket* Pop()
    {
        auto* packet = m_head;
        m_head = packet->next;
        return packet;
    }

  private:
    FabricPacket* m_head{nullptr};
    FabricPacket* m_tail{nullptr}; //!< valid only while m_head is set
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FABRIC_PACKET_H
