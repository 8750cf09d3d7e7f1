// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PARALLEL_RANGES_H
#define GRADSYNC_PARALLEL_RANGES_H

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3::gradsync
{

/// Part of an array: elements [begin, end), the `index`-th of its cut.
struct ElementRange
{
    uint32_t index;
    uint64_t begin;
    uint64_t end;
};

/**
 * Cuts `count` elements into about as many ranges as there are threads, at multiples of `grain`.
 * \param threads 0: as many as the machine has; short arrays get fewer, down to one
 */
std::vector<ElementRange> CutRanges(uint64_t count, uint64_t grain, uint32_t threads);

/**
 * Threads for a pass that does little with each element: shorter arrays are done before a second
 * thread has started, unless it is asked for.
 */
uint32_t ChooseThreads(uint64_t count, uint32_t threads);

/**
 * Calls `work` for each range, each on a thread of its own, and returns when all are done. What it
 * computes must not depend on the cut: then results are the same for any number of threads.
 */
void ForEachRange(const std::vector<ElementRange>& ranges,
                  const std::function<void(const ElementRange&)>& work);

/// Both in one.
void ForEachRange(uint64_t count,
                  uint64_t grain,
                  uint32_t threads,
                  const std::function<void(const ElementRange&)>& work);

} // namespace ns3::gradsync

#endif // GRADSYNC_PARALLEL_RANGES_H
