// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ATP_HEADER_H
#define GRADSYNC_ATP_HEADER_H

#include <cstdint>

namespace ns3::gradsync
{

/// Where a packet of ATP is on its way.
enum class AtpStage : uint8_t
{
    Data,        //!< contributions on their way to the server
    Result,      //!< the server's answer, on its way to its own switch
    RackResult,  //!< a copy for a rack, on its way to the switch there
    WorkerResult //!< a copy for a worker
};

/// What a packet of ATP says (Lao et al., NSDI 2021, figure 5).
struct AtpHeader
{
    /// On the wire, with two bitmaps, fan-ins and aggregator indices: 308 bytes of frame without
    /// FCS for 62 integers.
    static constexpr uint32_t BYTES = 18;
    /// Bits of a bitmap.
    static constexpr uint32_t MAX_WORKERS = 32;

    uint32_t bitmap{0};   //!< workers whose values are in it
    uint64_t sequence{0}; //!< number of the packet since the job began; on the wire its end
    uint16_t job{0};
    AtpStage stage{AtpStage::Data};
    bool isResend{false};
    bool hasCollided{false};   //!< some switch had no aggregator for it
    bool isCongested{false};   //!< ECN of any of the packets that are in it
    bool hasOverflowed{false}; //!< a sum left the range of int32, or a value that of fixed point
    bool isFloat{false};       //!< the values are the bits of floats
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ATP_HEADER_H
