// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FLOAT_SUM_H
#define GRADSYNC_FLOAT_SUM_H

#include <cstdint>
#include <span>

namespace ns3::gradsync
{

/// Adds float32 to float32, each sum rounded; both are given by their bits.
void AddFloats(std::span<int32_t> sums, std::span<const int32_t> values);

} // namespace ns3::gradsync

#endif // GRADSYNC_FLOAT_SUM_H
