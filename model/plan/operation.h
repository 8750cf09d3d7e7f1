// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_OPERATION_H
#define GRADSYNC_OPERATION_H

#include <cstdint>

namespace ns3::gradsync
{

/// Index of an operation in its plan.
using OperationId = uint32_t;

/// What an operation does.
enum class OperationKind : uint8_t
{
    TransferReduce, //!< data moves src -> dst over the network and is added to dst's chunks
    TransferCopy,   //!< data moves src -> dst over the network and replaces dst's chunks
    Aggregate, //!< the network adds what ranks of a group send, and sends the sum to ranks of it
    Join,    //!< moves nothing: done when all operations before it are done (fan-in point, barrier)
    Encode,  //!< moves nothing: the rank compresses chunks, which takes its accelerator time
    Decode,  //!< as Encode: it decompresses, and adds where data are reduced
    Compute, //!< as Encode: whatever else it computes
    Signal,  //!< a message of a few bytes src -> dst that moves no chunk (a command)
    Train, //!< the rank computes its gradient; ranks of plans without it do so before the exchange
    Gate   //!< done when enough of the operations before it are, see PlanGate
};

/// As messages and files have it: "reduce".
const char* ToString(OperationKind kind);

/**
 * From which buffer of `src` to which of `dst` an operation moves its chunks. Buffer 0 holds the
 * gradient, and at the end the result; the others are staging buffers of the same chunks, empty at
 * first, for data that arrive before they may be added.
 */
struct BufferPair
{
    uint8_t src{0};
    uint8_t dst{0};
};

/**
 * One operation of a plan. 24 bytes; a plan keeps them packed, see OperationTable.
 *
 * A move reads its chunks at `src` when it starts and writes them at `dst` when it is done. Within
 * one rank (`src` equal to `dst`) it moves them from one buffer to another, over no network.
 *
 * An aggregation is one operation for each rank of its group, `src` equal to `dst`, with
 * consecutive ids in the order of the group: each rank gives its chunks when it is ready to, and
 * gets the sum of those of all. In a group with a root (GroupFlow) only the root gets the sum, or
 * only the root gives.
 */
struct Operation
{
    OperationKind kind;
    BufferPair buffers;
    uint32_t src; //!< sending rank; of what moves nothing, the rank it is accounted to
    uint32_t dst; //!< receiving rank; of what moves nothing, equal to src
    /// Chunk range [firstChunk, firstChunk + chunkCount) of what moves; of Signal, the bytes of its
    /// message; of Encode, Decode and Compute, the processor of the rank that is busy with it.
    uint32_t firstChunk;
    uint32_t chunkCount;
    /**
     * Connection that carries the transfer. Transfers with equal (src, dst, stream) share one
     * connection and arrive in the order in which they were started; different streams share the
     * links fairly. Of Encode, Decode and Compute, the number of their duration in the plan; of
     * Aggregate, the number of its group.
     */
    uint32_t stream;

    /// Whether it moves chunks at all.
    bool IsMove() const
    {
        return kind < OperationKind::Join;
    }

    /// Whether it takes a time of the plan at a processor of its rank.
    bool IsCompute() const
    {
        return kind == OperationKind::Encode || kind == OperationKind::Decode ||
               kind == OperationKind::Compute;
    }

    bool IsAggregate() const
    {
        return kind == OperationKind::Aggregate;
    }

    /// Whether it is a message over the network, or what a rank gives to it.
    bool IsTransfer() const
    {
        return src != dst || IsAggregate();
    }
};

} // namespace ns3::gradsync

#endif // GRADSYNC_OPERATION_H
