// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MATCHED_TRACE_H
#define GRADSYNC_MATCHED_TRACE_H

#include "ns3/trace-issues.h"
#include "ns3/trace-program.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/// Nodes of several ranks that are one collective or one message.
struct TraceMeeting
{
    uint32_t group; //!< place in MatchedTrace::groups; of a message: sender and receiver
    uint32_t label; //!< of its first member
    uint64_t bytes; //!< of the whole buffer; of an all-to-all that of each rank
    /// None: a message.
    std::optional<TraceCollective> collective;
};

/// A trace whose ranks meet: what every collective and message is among.
struct MatchedTrace
{
    static constexpr uint32_t NO_MEETING = UINT32_MAX;

    TraceSet set;
    std::vector<std::vector<uint32_t>> groups; //!< ranks, of two at least
    std::vector<TraceMeeting> meetings;
    /// [rank][node]; nodes that communicate and meet nobody take no time.
    std::vector<std::vector<uint32_t>> meetingOf;
};

/**
 * Brings the ranks of a trace together. The n-th collective of a rank in a group meets the n-th of
 * the others; the n-th message with a tag to a rank meets the n-th that it receives with it.
 * Collectives of one rank, and of no bytes but barriers, meet nobody. Messages of 0 bytes travel as
 * 1.
 * \param[out] issues messages without their other end, collectives that ranks disagree about, ranks
 * that are in no group of a name
 */
MatchedTrace MatchTrace(TraceSet set, TraceIssues& issues);

} // namespace ns3::gradsync

#endif // GRADSYNC_MATCHED_TRACE_H
