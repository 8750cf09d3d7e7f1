// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FOLDER_SEAL_H
#define GRADSYNC_FOLDER_SEAL_H

#include <filesystem>
#include <string>

namespace ns3::gradsync
{

/// The file that SealFolder adds to a folder.
inline constexpr const char* SEAL_FILE = "checksums.json";

/**
 * Notes size and checksum of every file below a folder in its SEAL_FILE, and returns when all is on
 * the disk. \throws FileError when something cannot be written
 */
void SealFolder(const std::filesystem::path& folder);

/// What has happened to the files of a sealed folder since, for the user; empty: nothing.
std::string FindDamage(const std::filesystem::path& folder);

} // namespace ns3::gradsync

#endif // GRADSYNC_FOLDER_SEAL_H
