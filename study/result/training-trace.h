// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRAINING_TRACE_H
#define GRADSYNC_TRAINING_TRACE_H

#include "ns3/run-result.h"
#include "ns3/trace-events.h"

#include <cstdint>

namespace ns3::gradsync
{

/**
 * Writes training iterations: for each job a process with its critical path, and one for each rank,
 * with a thread for each stream (more where a stream has several communications at once). Arrows
 * lead from the sends of messages to their receives.
 * \param process number of the first process
 */
void WriteTrainingTrace(const RunResult& result, uint32_t process, TraceEvents& events);

} // namespace ns3::gradsync

#endif // GRADSYNC_TRAINING_TRACE_H
