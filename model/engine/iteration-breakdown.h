// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ITERATION_BREAKDOWN_H
#define GRADSYNC_ITERATION_BREAKDOWN_H

#include "ns3/nstime.h"
#include "ns3/task-log.h"
#include "ns3/time-spans.h"
#include "ns3/workload.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// For how long communications of a rank on one stream were under way.
struct StreamTime
{
    Time hidden;  //!< while the rank computed
    Time exposed; //!< while it did not

    Time GetTotal() const
    {
        return hidden + exposed;
    }
};

/**
 * What a rank did during an iteration: at every moment it computes, or only communicates, or
 * neither, so that computation + exposed + bubble is the iteration.
 */
struct RankTime
{
    Time computation; //!< on any of its streams
    Time hidden;      //!< of computation: it communicates, too
    Time exposed;     //!< communicates and does not compute
    Time waiting;     //!< of exposed: in collectives only to which not all ranks have come
    Time bubble;      //!< does neither
    std::vector<StreamTime> streams; //!< [stream]; they overlap: hidden and exposed are no sums
};

/**
 * From when on a rank communicates in its part: its begin. Of the receiver of a message, not before
 * its sender's: a receive that is posted early is no communication.
 */
Time GetWorkBegin(const Workload& workload, const TaskLog& log, TaskId part);

/// When a rank computes, on whatever streams.
TimeSpans FindComputing(const Workload& workload, const TaskLog& log, uint32_t rank);

/**
 * \param log of a workload that has ended \param start of the iteration, before which nothing began
 * \param end of it
 * \returns [rank]
 */
std::vector<RankTime> BreakDownIteration(const Workload& workload,
                                         const TaskLog& log,
                                         const Time& start,
                                         const Time& end);

} // namespace ns3::gradsync

#endif // GRADSYNC_ITERATION_BREAKDOWN_H
