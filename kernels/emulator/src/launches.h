// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EMULATOR_LAUNCHES_H
#define GRADSYNC_EMULATOR_LAUNCHES_H

#include <cstddef>
#include <cstdint>

namespace ns3::gradsync::emulator
{

/// What the launch in hand moved; distinct bytes and sectors.
struct Traffic
{
    uint64_t bytesRead{0};
    uint64_t bytesWritten{0};
    uint64_t sectorsRead{0};
    uint64_t sectorsWritten{0};
};

extern Traffic traffic;

/// A memset or copy that a stream does.
void NoteTransfer(const char* what, size_t bytesRead, size_t bytesWritten);

} // namespace ns3::gradsync::emulator

#endif // GRADSYNC_EMULATOR_LAUNCHES_H
