// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DRAWN_ROUNDS_H
#define GRADSYNC_DRAWN_ROUNDS_H

#include "address-sanitizer.h"

#include <cstdint>

namespace ns3::gradsync::tests
{

/// How many scenarios a test draws that has so many: a quarter under the sanitizers, which make
/// each take twenty times as long. They look for what any of them meets; who compares results does
/// so without them.
constexpr uint32_t
CountDrawn(uint32_t rounds)
{
    return rounds / (HAS_ADDRESS_SANITIZER ? 4 : 1);
}

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_DRAWN_ROUNDS_H
