// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WRAPPING_SUM_H
#define GRADSYNC_WRAPPING_SUM_H

#include <cstdint>
#include <span>

namespace ns3::gradsync
{

/// Adds integers to sums, modulo 2^32. \returns whether a sum left the range of int32
bool AddWrapping(std::span<int32_t> sums, std::span<const int32_t> values);

} // namespace ns3::gradsync

#endif // GRADSYNC_WRAPPING_SUM_H
