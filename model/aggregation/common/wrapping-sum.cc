// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/wrapping-sum.h"

#include <limits>

namespace ns3::gradsync
{

bool
AddWrapping(std::span<int32_t> sums, std::span<const int32_t> values)
{
    bool overflows = false;
    for (size_t i = 0; i < sums.size(); ++i)
    {
        const int64_t sum = int64_t{sums[i]} + values[i];
        overflows |=
            sum < std::numeric_limits<int32_t>::min() || sum > std::numeric_limits<int32_t>::max();
        sums[i] = static_cast<int32_t>(sum);
    }
    return overflows;
}

} // namespace ns3::gradsync
