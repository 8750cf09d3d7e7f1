// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ITERATION_TIMERS_H
#define GRADSYNC_ITERATION_TIMERS_H

#include "ns3/nstime.h"
#include "ns3/part-ends.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// Timers of iterations (SharedJob::timeout), which only one process alone has as events: it
/// cancels them when iterations end in time, and their events come all the same.
struct IterationTimers
{
    uint64_t count{0}; //!< that go off before the run ends
    Time last;         //!< when the last of these does
};

/// \param ends [job] of its iterations that ended, in their order \param isStopped the run ends
/// with the last iteration whose time is over; else when nothing is left to happen
IterationTimers CountTimers(std::span<const SharedJob> jobs,
                            std::span<const std::vector<Time>> ends,
                            bool isStopped);

} // namespace ns3::gradsync

#endif // GRADSYNC_ITERATION_TIMERS_H
