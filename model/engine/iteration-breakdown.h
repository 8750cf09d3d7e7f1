// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ITERATION_BREAKDOWN_H
#define GRADSYNC_ITERATION_BREAKDOWN_H

#include "ns3/nstime.h"
#include "ns3/task-log.h"
#include "ns3/time-spans.h"
#include "ns3/workload.h"

#include <cstdint>
#include <span>
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

/// When an iteration went on.
struct IterationSpan
{
    Time start;
    Time end;
};

/**
 * The iterations of a workload, each from the end of the one before to its last task.
 * \param run of the workload: the start of the first of them and the end of the last
 */
std::vector<IterationSpan> SplitIterations(const Workload& workload,
                                           const TaskLog& log,
                                           const IterationSpan& run);

/**
 * \param log of a workload that has ended \param spans that follow each other, as of
 * SplitIterations; of one that another overlaps all is counted that happens in its span
 * \returns [span][rank]
 */
std::vector<std::vector<RankTime>> BreakDownIterations(const Workload& workload,
                                                       const TaskLog& log,
                                                       std::span<const IterationSpan> spans);

} // namespace ns3::gradsync

#endif // GRADSYNC_ITERATION_BREAKDOWN_H
