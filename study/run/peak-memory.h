// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PEAK_MEMORY_H
#define GRADSYNC_PEAK_MEMORY_H

#include <cstdint>
#include <sys/resource.h>

namespace ns3::gradsync
{

/// Most memory that this process has had.
inline uint64_t
GetPeakRssBytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

} // namespace ns3::gradsync

#endif // GRADSYNC_PEAK_MEMORY_H
