// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FOLDER_LISTING_H
#define GRADSYNC_FOLDER_LISTING_H

#include <filesystem>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * What is in a folder, all of it or an error: the iterators of the standard library, left alone,
 * name no folder when reading one fails half way.
 * \returns names, sorted; none for a folder that is not there
 * \throws FileError
 */
std::vector<std::string> ListNames(const std::filesystem::path& folder);

/// The same for all that is below the folder. Links are not followed.
std::vector<std::filesystem::directory_entry> ListTree(const std::filesystem::path& folder);

} // namespace ns3::gradsync

#endif // GRADSYNC_FOLDER_LISTING_H
