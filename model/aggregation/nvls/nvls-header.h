// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NVLS_HEADER_H
#define GRADSYNC_NVLS_HEADER_H

#include <cstdint>

namespace ns3::gradsync
{

/// What a packet of NVLS is. Data are in the answers and the result of a reduction, and in the
/// request of a multicast.
enum class NvlsStage : uint8_t
{
    Request, //!< of the root, which the switch hands to all members
    Answer,  //!< of a member to the switch
    Result   //!< of the switch to the root, when all members have answered
};

/// What NVSwitch and GPUs know of a packet. On the wire it is a flit (NvlsDriver, HeaderBytes).
struct NvlsHeader
{
    uint64_t sequence{0}; //!< number of the packet since the job began
    uint16_t job{0};
    uint16_t member{0}; //!< index in the group of who answers, or for whom it is
    NvlsStage stage{NvlsStage::Request};
    bool hasOverflowed{false}; //!< a sum left the range of int32
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NVLS_HEADER_H
