// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_MESSAGE_RECEIVER_H
#define GRADSYNC_SLOT_MESSAGE_RECEIVER_H

#include "ns3/aggregation-contents.h"
#include "ns3/slot-format.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * The receiving end of an unreliable connection at a worker's NIC (InfiniBand Architecture
 * Specification vol. 1, 9.8): packets of a message are written one behind the other in the order in
 * which they come. One that does not follow the one before by its sequence number, or makes a
 * message of another length than it is to have, loses the message: all is dropped up to the next
 * first packet.
 */
class SlotMessageReceiver
{
  public:
    /// What a packet brought.
    struct Piece
    {
        std::vector<int32_t> values;
        bool hasOverflowed{false};
        int8_t exponent{0};
    };

    /// \returns whether the message is whole with this packet
    bool Receive(const SlotWire& wire, const AggregationPacket& packet);

    /// Of a message that is whole, in its order.
    std::vector<Piece> TakePieces()
    {
        return std::exchange(m_pieces, {});
    }

  private:
    bool m_isOpen{false};
    uint32_t m_next{0}; //!< sequence number
    std::vector<Piece> m_pieces;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_MESSAGE_RECEIVER_H
