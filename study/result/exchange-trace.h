// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EXCHANGE_TRACE_H
#define GRADSYNC_EXCHANGE_TRACE_H

#include "ns3/run-result.h"
#include "ns3/trace-events.h"

#include <cstdint>

namespace ns3::gradsync
{

/// Numbers of what a trace has more of.
struct TraceNumbers
{
    uint32_t process; //!< the first that is free
    uint64_t flow;    //!< of the first arrow
};

/**
 * Writes jobs that exchange: what each host computes, sends, receives and waits for, in order of
 * time, with an arrow from the send of each message to its receipt; and for each job a process with
 * its critical path. What is on the path has the category "critical". The process of a host is its
 * endpoint + 1.
 * \returns the numbers that come next
 */
TraceNumbers WriteExchangeTrace(const RunResult& result, TraceNumbers next, TraceEvents& events);

} // namespace ns3::gradsync

#endif // GRADSYNC_EXCHANGE_TRACE_H
