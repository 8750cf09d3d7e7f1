// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SHARP_LIMITS_H
#define GRADSYNC_SHARP_LIMITS_H

#include <cstdint>

namespace ns3::gradsync
{

/// Largest message of a streaming tree of SHARP, 32 bytes less than 1 GiB (NVIDIA's manual).
inline constexpr uint64_t SHARP_MAX_STREAMING_BYTES = 1'073'741'792;

} // namespace ns3::gradsync

#endif // GRADSYNC_SHARP_LIMITS_H
