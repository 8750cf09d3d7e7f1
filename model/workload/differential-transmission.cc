// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/differential-transmission.h"

#include <algorithm>
#include <cmath>

namespace ns3::gradsync
{

ByteRange
DifferentialTransmission::FindDroppable(uint64_t bytes) const
{
    if (bytes <= blockBytes)
    {
        return {};
    }
    const auto last = (bytes - 1) / blockBytes; // and so many blocks before it
    const auto reliable = std::llround(reliableShare * static_cast<double>(last + 1));
    return {std::min(static_cast<uint64_t>(reliable), last) * blockBytes, last * blockBytes};
}

} // namespace ns3::gradsync
