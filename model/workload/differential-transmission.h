// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DIFFERENTIAL_TRANSMISSION_H
#define GRADSYNC_DIFFERENTIAL_TRANSMISSION_H

#include "ns3/byte-range.h"

#include <cstdint>

namespace ns3::gradsync
{

/**
 * Differential gradient transmission (DGT, Zhou et al., APNet'19): a message of gradients is cut
 * into blocks, which are sent in the order of what they contribute (ScoreBlocks). A share of
 * them is sent reliably, the network may lose the others, whose elements then count as 0. The last
 * block of the gradient is sent last, and reliably, so that the receiver knows when all has come
 * that will come (GeoMX, ps-lite, KVServer::Send and GetChannel).
 */
struct DifferentialTransmission
{
    static constexpr uint64_t BLOCK_BYTES = 16'384; //!< 4096 float32 elements, as the paper has it

    double reliableShare{1.0}; //!< of the blocks; 1: all
    uint64_t blockBytes{BLOCK_BYTES};

    bool operator==(const DifferentialTransmission&) const = default;

    /// What may be lost of a message of so many bytes.
    ByteRange FindDroppable(uint64_t bytes) const;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_DIFFERENTIAL_TRANSMISSION_H
