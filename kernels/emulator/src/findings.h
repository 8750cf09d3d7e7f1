// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EMULATOR_FINDINGS_H
#define GRADSYNC_EMULATOR_FINDINGS_H

#include "cuda_runtime.h"
#include "emulator.h"

namespace ns3::gradsync::emulator
{

/// Where something was found: an instruction, or a line where one is known.
struct Place
{
    const void* instruction{nullptr};
    Site site{nullptr, 0};
};

/// Keeps it, once for each place.
/// \param address 0 if there is none
void Note(Fault fault, const Place& place, const char* what, uintptr_t address);

} // namespace ns3::gradsync::emulator

#endif // GRADSYNC_EMULATOR_FINDINGS_H
