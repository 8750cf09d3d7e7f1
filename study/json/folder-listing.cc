// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/folder-listing.h"

#include "ns3/file-error.h"

#include <algorithm>
#include <system_error>

namespace ns3::gradsync
{

namespace
{

template <class Iterator>
std::vector<std::filesystem::directory_entry>
ListEntries(const std::filesystem::path& folder)
{
    std::vector<std::filesystem::directory_entry> entries;
    std::error_code error;
    auto entry = Iterator(folder, error);
    for (; !error && entry != Iterator(); entry.increment(error))
    {
        entries.push_back(*entry);
    }
    if (error && error != std::errc::no_such_file_or_directory)
    {
        throw FileError(folder, "cannot be listed: " + error.message());
    }
    return entries;
}

} // namespace

std::vector<std::string>
ListNames(const std::filesystem::path& folder)
{
    std::vector<std::string> names;
    for (const auto& entry : ListEntries<std::filesystem::directory_iterator>(folder))
    {
        names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::filesystem::directory_entry>
ListTree(const std::filesystem::path& folder)
{
    return ListEntries<std::filesystem::recursive_directory_iterator>(folder);
}

} // namespace ns3::gradsync
