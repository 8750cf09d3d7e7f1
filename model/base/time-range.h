// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TIME_RANGE_H
#define GRADSYNC_TIME_RANGE_H

#include "ns3/nstime.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ns3::gradsync
{

/*
 * ns-3 counts time in steps of 63 bits: picoseconds up to 106.75 days. Simulated time ends before,
 * so that what ports and timers add to an instant of it (MAX_LINK_DELAY, MAX_TIMER) never wraps.
 * Whatever else becomes a time or is added to one goes through the functions here, which stop at
 * NEVER where arithmetic would wrap; the RadixScheduler lets nothing happen that late.
 */

/// The last instant of simulated time: 106 days of picoseconds.
inline constexpr int64_t LAST_TIME_STEP = int64_t{106} * 86'400 * 1'000'000'000'000;

/// Stands for all instants and durations beyond.
inline constexpr int64_t NEVER = LAST_TIME_STEP + 1;

/// A number of time steps, rounded; NEVER for those that are too many.
inline int64_t
ToTimeSteps(double steps)
{
    return steps < static_cast<double>(LAST_TIME_STEP) ? std::llround(steps) : NEVER;
}

/// The sum of two numbers of time steps from 0 to NEVER.
inline int64_t
AddTimeSteps(int64_t a, int64_t b)
{
    return a < NEVER - b ? a + b : NEVER;
}

/// The sum of two times from 0 to that of NEVER.
inline Time
AddTimes(const Time& a, const Time& b)
{
    return TimeStep(static_cast<uint64_t>(AddTimeSteps(a.GetTimeStep(), b.GetTimeStep())));
}

/// As Seconds, of whatever is too long NEVER. \param seconds not negative
inline Time
ToTime(double seconds)
{
    const auto steps = seconds * static_cast<double>(Seconds(1).GetTimeStep());
    return steps < static_cast<double>(LAST_TIME_STEP) ? Seconds(seconds)
                                                       : TimeStep(uint64_t{NEVER});
}

/// Time steps that a link's signals may take, and as many more that all faults add to them.
inline constexpr int64_t MAX_LINK_DELAY = int64_t{3600} * 1'000'000'000'000;

/// The longest timeout, interval or delay of a protocol or switch, in time steps: InfiniBand's
/// longest is 2.4 hours.
inline constexpr int64_t MAX_TIMER = 3 * MAX_LINK_DELAY;

/// Bits per second that a link has at least, faults or not: below, the time of the largest frame
/// would leave the fixed point arithmetic of SerialisationTime.
inline constexpr uint64_t MIN_LINK_BIT_RATE = 60'000;

} // namespace ns3::gradsync

#endif // GRADSYNC_TIME_RANGE_H
