// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRACE_WRITER_H
#define GRADSYNC_TRACE_WRITER_H

#include "ns3/run-result.h"

#include <ostream>

namespace ns3::gradsync
{

/**
 * Writes a run in Chrome's trace event format, which Perfetto opens: a process for each host with
 * what it computes, sends, receives and waits for, arrows from sends to receipts, one for each
 * critical path, and one for the network with faults, reactions and the number of blocked workers.
 * Times are microseconds of simulated time.
 *
 * Written event by event: beside the result itself it needs about 100 bytes a transfer.
 */
void WriteTrace(const RunResult& result, std::ostream& stream);

} // namespace ns3::gradsync

#endif // GRADSYNC_TRACE_WRITER_H
