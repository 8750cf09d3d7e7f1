// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRACE_PROGRAM_H
#define GRADSYNC_TRACE_PROGRAM_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// Nodes of a trace, of all its ranks.
inline constexpr uint64_t MAX_TRACE_NODES = uint64_t{1} << 24;

/// Of one computation: 10^6 s.
inline constexpr uint64_t MAX_TRACE_PICOSECONDS = 1'000'000'000'000'000'000;

/// Of one message or collective: 16 TiB, as gradients have at most.
inline constexpr uint64_t MAX_TRACE_BYTES = uint64_t{1} << 44;

/// The collectives that traces have and the catalogue has schemes for.
enum class TraceCollective : uint8_t
{
    AllReduce,
    AllGather,
    ReduceScatter,
    AllToAll,
    Broadcast,
    Reduce,
    Barrier
};

inline constexpr size_t TRACE_COLLECTIVES = 7;

/// As plans call them: "all-reduce".
const char* GetTraceCollectiveName(TraceCollective collective);

enum class TraceAction : uint8_t
{
    Compute, //!< on the device, one at a time
    Host,    //!< on the host's processor, one at a time
    Join,    //!< takes no time
    Collective,
    Send,
    Receive
};

/// What a rank does.
struct TraceNode
{
    uint64_t picoseconds{0}; //!< of a computation
    /// Of a message; of a collective: the whole buffer, of an all-to-all that of each rank. Of an
    /// all-gather `isShare` says whether it is that of each rank.
    uint64_t bytes{0};
    int64_t tag{0};    //!< of messages
    int32_t peer{0};   //!< of messages: a rank, or how far it is from this one
    uint32_t group{0}; //!< of collectives: place in TraceProgram::groups
    uint32_t label{0}; //!< place in TraceProgram::labels
    TraceAction action{TraceAction::Join};
    TraceCollective collective{TraceCollective::AllReduce};
    bool isShare{false};
};

/// What a rank does in an iteration, or several ranks do alike: nodes and their dependencies.
struct TraceProgram
{
    std::vector<TraceNode> nodes; //!< collectives of a group in the order in which they meet
    /// (earlier, later), without circles.
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    std::vector<std::string> labels;
    std::vector<std::string> groups; //!< names, which mean for each rank the group that it is in
};

/// A trace as its files have it.
struct TraceSet
{
    std::vector<std::shared_ptr<const TraceProgram>> programs; //!< [rank]
    /// Groups of a name: each rank is in at most one. "" are all ranks.
    std::map<std::string, std::vector<std::vector<uint32_t>>> groups;
    bool hasRelativePeers{false}; //!< TraceNode::peer is a distance
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TRACE_PROGRAM_H
