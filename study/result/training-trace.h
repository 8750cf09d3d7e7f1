// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_TRACE_H
#define GRADSYNC_TRAINING_TRACE_H

#include "ns3/exchange-trace.h"
#include "ns3/run-result.h"
#include "ns3/trace-events.h"

namespace ns3::gradsync
{

/**
 * Writes training iterations: for each job a process with its critical path, and one for each rank,
 * with a thread for each stream (more where a stream has several communications at once). Arrows
 * lead from the sends of messages to their receives. What is on the path has the category
 * "critical".
 * \param next the numbers that are free
 */
void WriteTrainingTrace(const RunResult& result, TraceNumbers next, TraceEvents& events);

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_TRACE_H
