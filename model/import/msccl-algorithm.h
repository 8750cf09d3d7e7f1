// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MSCCL_ALGORITHM_H
#define GRADSYNC_MSCCL_ALGORITHM_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// The buffers of a rank: input, output, scratch.
enum class MscclBuffer : uint8_t
{
    Input,
    Output,
    Scratch
};

/// A place in a buffer, counted in chunks.
struct MscclPlace
{
    MscclBuffer buffer{MscclBuffer::Input};
    uint32_t offset{0};
};

/// One step of a thread block: receives, combines and sends, in this order.
struct MscclStep
{
    std::string where; //!< file and line, for messages
    bool receives{false};
    bool reduces{
        false}; //!< what is received is added to `source`; local: `source` to `destination`
    bool sends{false};
    bool isLocal{false}; //!< from `source` to `destination` of the same rank
    MscclPlace source;
    MscclPlace destination; //!< of what is received or moved locally
    uint32_t count{1};      //!< chunks
    int64_t waitBlock{
        -1}; //!< thread block of this rank that has to be done with `waitStep`; -1: none
    int64_t waitStep{-1};
};

struct MscclBlock
{
    int64_t sendPeer{-1}; //!< rank; -1: none
    int64_t receivePeer{-1};
    uint32_t channel{0};
    std::vector<MscclStep> steps;
};

struct MscclGpu
{
    uint32_t inputChunks{0};
    uint32_t outputChunks{0};
    uint32_t scratchChunks{0};
    uint32_t spareChunks{0};        //!< behind those, for sums that are sent and not stored
    std::vector<MscclBlock> blocks; //!< by id
};

/// An algorithm of MSCCL (Cowan et al., ASPLOS 2023), as its XML file has it.
struct MscclAlgorithm
{
    std::string collective; //!< "allreduce", "allgather", "reducescatter"
    uint32_t chunks{0};     //!< of the whole buffer (nchunksperloop)
    std::vector<MscclGpu> gpus;
};

/**
 * Reads an algorithm and checks what does not take executing it.
 * \param file for messages only \throws ImportError with file, line and element
 */
MscclAlgorithm ReadMsccl(const std::string& file, const std::string& text);

} // namespace ns3::gradsync

#endif // GRADSYNC_MSCCL_ALGORITHM_H
