// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CHAKRA_TYPES_H
#define GRADSYNC_CHAKRA_TYPES_H

#include "ns3/trace-program.h"

#include <array>
#include <cstdint>

namespace ns3::gradsync
{

/// NodeType of et_def.proto.
struct ChakraType
{
    enum : int32_t
    {
        METADATA = 1,
        LOAD = 2,
        STORE = 3,
        COMPUTATION = 4,
        SENDING = 5,
        RECEIVING = 6,
        COLLECTIVE = 7
    };
};

/// A CollectiveCommType of et_def.proto.
struct ChakraCommType
{
    int64_t number;
    TraceCollective collective;
};

/// All that the catalogue has a scheme for. Of two numbers of a collective the first is written.
constexpr std::array<ChakraCommType, 8> CHAKRA_COMM_TYPES{{{0, TraceCollective::AllReduce},
                                                           {1, TraceCollective::Reduce},
                                                           {2, TraceCollective::AllGather},
                                                           {5, TraceCollective::Broadcast},
                                                           {6, TraceCollective::AllToAll},
                                                           {7, TraceCollective::ReduceScatter},
                                                           {8, TraceCollective::ReduceScatter},
                                                           {9, TraceCollective::Barrier}}};

} // namespace ns3::gradsync

#endif // GRADSYNC_CHAKRA_TYPES_H
