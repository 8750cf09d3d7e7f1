// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/float-sum.h"

#include <algorithm>
#include <bit>

namespace ns3::gradsync
{

void
AddFloats(std::span<int32_t> sums, std::span<const int32_t> values)
{
    std::ranges::transform(sums, values, sums.begin(), [](int32_t sum, int32_t value) {
        return std::bit_cast<int32_t>(std::bit_cast<float>(sum) + std::bit_cast<float>(value));
    });
}

} // namespace ns3::gradsync
