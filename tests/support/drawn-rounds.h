// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DRAWN_ROUNDS_H
#define GRADSYNC_DRAWN_ROUNDS_H

#include <cstdint>

namespace ns3::gradsync::tests
{

/// How many scenarios a test draws that has so many: a quarter under the sanitizers, which make
/// each take twenty times as long. They look for what any of them meets; who compares results does
/// so without them.
constexpr uint32_t
CountDrawn(uint32_t rounds)
{
#if defined(__SANITIZE_ADDRESS__)
    constexpr uint32_t SHARE = 4;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    constexpr uint32_t SHARE = 4;
#else
    constexpr uint32_t SHARE = 1;
#endif
#else
    constexpr uint32_t SHARE = 1;
#endif
    return rounds / SHARE;
}

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_DRAWN_ROUNDS_H
