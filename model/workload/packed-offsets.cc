// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/packed-offsets.h"

#include "ns3/workload-builder.h"

#include <fmt/format.h>

namespace ns3::gradsync
{

void
CheckNumbers(uint64_t count, const std::string& what)
{
    if (count > UINT32_MAX)
    {
        throw WorkloadError(
            fmt::format("a workload has at most 4,294,967,295 {}, not {}", what, count));
    }
}

void
SumUpOffsets(std::vector<uint32_t>& offsets, const std::string& what)
{
    uint64_t sum = 0;
    for (auto& offset : offsets)
    {
        sum += offset;
        CheckNumbers(sum, what);
        offset = static_cast<uint32_t>(sum);
    }
}

} // namespace ns3::gradsync
