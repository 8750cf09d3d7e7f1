// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NETREDUCE_HEADER_H
#define GRADSYNC_NETREDUCE_HEADER_H

#include <cstdint>

namespace ns3::gradsync
{

/**
 * What a box of NetReduce knows of a RoCE packet. On the wire only the first packet of a message
 * says it, in the first bytes of its payload; of the others it follows from their packet sequence
 * numbers.
 */
struct NetReduceHeader
{
    /// At the beginning of a message: job, rank, number and length of the message.
    static constexpr uint32_t BYTES = 16;

    uint64_t sequence{0}; //!< number of the packet since the job began
    uint32_t feedback{0}; //!< that of the FabricPacket, for congestion control
    uint16_t job{0};
    uint16_t child{0};         //!< who contributed it; of what goes down, to whom it goes
    bool isResult{false};      //!< on its way down, to a worker
    uint32_t messageBytes{0};  //!< of the message that it begins; 0: it does not
    bool hasOverflowed{false}; //!< a sum left the range of int32
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NETREDUCE_HEADER_H
