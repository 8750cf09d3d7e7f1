// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TRACE_WORKLOAD_H
#define GRADSYNC_TRACE_WORKLOAD_H

#include "ns3/matched-trace.h"
#include "ns3/plan-shelf.h"
#include "ns3/scheme-choice.h"
#include "ns3/workload.h"

#include <array>
#include <memory>
#include <vector>

namespace ns3::gradsync
{

/// A trace that is run as the iterations of a job.
struct TraceJobSpec
{
    std::shared_ptr<const MatchedTrace> trace;
    std::array<SchemeChoice, TRACE_COLLECTIVES> schemes; //!< [TraceCollective]
    double computeScale{1.0};                            //!< of computations' times
    TraceIssues issues;                                  //!< what of it is left out
};

/**
 * The workload of a trace. A rank has one computation of its device in hand at a time, and one of
 * its host, the one that was ready first; messages begin when they are ready; of the collectives of
 * a group one is under way at a time, from when it is ready at all its ranks.
 * \throws WorkloadError for a scheme of another collective, or ranks that would wait for each other
 * for ever; SchemeError as schemes do
 */
Workload MakeTraceWorkload(const TraceJobSpec& spec, PlanShelf& shelf);

} // namespace ns3::gradsync

#endif // GRADSYNC_TRACE_WORKLOAD_H
