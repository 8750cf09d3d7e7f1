// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PROCESS_LINK_LOADER_H
#define GRADSYNC_PROCESS_LINK_LOADER_H

#include "ns3/process-link.h"

#include <filesystem>
#include <memory>

namespace ns3::gradsync
{

/// The program that runs.
std::filesystem::path FindProgram();

/// The library that links processes by MPI, beside the program; it may not be there.
std::filesystem::path FindProcessLinkLibrary();

/// Makes this process one of those that mpirun has started. \throws ScenarioError when it has no
/// library for that
std::unique_ptr<ProcessLink> LoadProcessLink();

} // namespace ns3::gradsync

#endif // GRADSYNC_PROCESS_LINK_LOADER_H
