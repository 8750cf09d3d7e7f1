// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BENCH_PROCESS_USAGE_H
#define GRADSYNC_BENCH_PROCESS_USAGE_H

#include <cstdint>
#include <sys/resource.h>

namespace ns3::gradsync::bench
{

/// CPU time of this process in user mode so far: steadier than the wall clock on a machine that
/// does other things too.
inline double
GetUserSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

/// Most memory that this process has held.
inline uint64_t
GetPeakRssBytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<uint64_t>(usage.ru_maxrss) * 1024; // Linux counts in KiB
}

} // namespace ns3::gradsync::bench

#endif // GRADSYNC_BENCH_PROCESS_USAGE_H
