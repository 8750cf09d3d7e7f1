// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PROGRAM_VERSION_H
#define GRADSYNC_PROGRAM_VERSION_H

#include <cstdint>
#include <string>

namespace ns3::gradsync
{

/// Version of gradsync, as "0.1.0".
std::string GetProgramVersion();

/// Commit of the sources when the build was configured; "unknown" outside a git checkout.
std::string GetProgramCommit();

/// Version of the ns-3 that this was built against.
std::string GetNs3Version();

/// The compiler that made this, as "GCC 12.2.0".
std::string GetCompilerVersion();

/**
 * A hash of the file that holds this code (program or shared library), so that results of another
 * build are never taken for those of this one.
 */
uint64_t GetProgramFingerprint();

} // namespace ns3::gradsync

#endif // GRADSYNC_PROGRAM_VERSION_H
