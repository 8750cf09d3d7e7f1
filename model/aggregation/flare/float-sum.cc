// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/float-sum.h"

#include <bit>
#include <cstddef>

namespace ns3::gradsync
{

void
AddFloats(std::span<int32_t> sums, std::span<const int32_t> values)
{
    for (size_t i = 0; i < sums.size(); ++i)
    {
        sums[i] =
            std::bit_cast<int32_t>(std::bit_cast<float>(sums[i]) + std::bit_cast<float>(values[i]));
    }
}

} // namespace ns3::gradsync
