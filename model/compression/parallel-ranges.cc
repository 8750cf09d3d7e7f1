// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/parallel-ranges.h"

#include <algorithm>
#include <thread>

namespace ns3::gradsync
{

namespace
{

/// Below this a thread costs more to start than it saves.
constexpr uint64_t SMALLEST_RANGE = 1U << 17;
constexpr uint64_t SMALLEST_LIGHT_PASS = 1U << 20; //!< likewise, of little work

/// Asked once: the answer comes from a file, which takes longer than many a codec.
uint32_t
CountProcessors()
{
    static const uint32_t count = std::max(1U, std::thread::hardware_concurrency());
    return count;
}

} // namespace

std::vector<ElementRange>
CutRanges(uint64_t count, uint64_t grain, uint32_t threads)
{
    const uint64_t wanted = threads > 0 ? threads : CountProcessors();
    const uint64_t parts = std::clamp<uint64_t>(count / SMALLEST_RANGE, 1, wanted);
    const uint64_t grains = (count + grain - 1) / grain;
    std::vector<ElementRange> ranges;
    ranges.reserve(parts);
    for (uint64_t part = 0; part < parts; ++part)
    {
        const uint64_t begin = std::min(count, grains * part / parts * grain);
        const uint64_t end = std::min(count, grains * (part + 1) / parts * grain);
        ranges.push_back({static_cast<uint32_t>(part), begin, end});
    }
    return ranges;
}

uint32_t
ChooseThreads(uint64_t count, uint32_t threads)
{
    return threads == 0 && count < SMALLEST_LIGHT_PASS ? 1 : threads;
}

void
ForEachRange(const std::vector<ElementRange>& ranges,
             const std::function<void(const ElementRange&)>& work)
{
    std::vector<std::thread> threads;
    threads.reserve(ranges.size());
    for (size_t i = 1; i < ranges.size(); ++i)
    {
        threads.emplace_back(work, ranges[i]);
    }
    work(ranges.front());
    for (auto& thread : threads)
    {
        thread.join();
    }
}

void
ForEachRange(uint64_t count,
             uint64_t grain,
             uint32_t threads,
             const std::function<void(const ElementRange&)>& work)
{
    ForEachRange(CutRanges(count, grain, threads), work);
}

} // namespace ns3::gradsync
