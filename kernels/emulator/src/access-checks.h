// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EMULATOR_ACCESS_CHECKS_H
#define GRADSYNC_EMULATOR_ACCESS_CHECKS_H

#include "findings.h"

#include <cstdint>

namespace ns3::gradsync::emulator
{

enum class AccessKind
{
    READ,
    WRITE,
    VOLATILE_READ, //!< counts as atomic
    VOLATILE_WRITE,
    ATOMIC, //!< reads and writes
};

/// Before every load and store of a kernel. Returns only if it may be done.
void OnAccess(uintptr_t address, uint32_t bytes, AccessKind kind, const Place& place);

} // namespace ns3::gradsync::emulator

#endif // GRADSYNC_EMULATOR_ACCESS_CHECKS_H
