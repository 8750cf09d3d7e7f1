// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/folder-seal.h"

#include "ns3/atomic-file.h"
#include "ns3/file-error.h"
#include "ns3/folder-listing.h"
#include "ns3/json-document.h"
#include "ns3/scenario-error.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/**
 * Size and checksum of a file as text; empty if it cannot be read.
 *
 * FNV-1a: each byte takes one state to another one, so that a single changed byte is always found.
 */
std::string
DigestFile(const std::filesystem::path& path)
{
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none))
    {
        return {};
    }
    std::ifstream file(path, std::ios::binary);
    std::array<char, 1 << 16> buffer;
    uint64_t bytes = 0;
    uint64_t hash = 0xcbf29ce484222325;
    while (file)
    {
        file.read(buffer.data(), buffer.size());
        const auto count = static_cast<size_t>(file.gcount());
        for (size_t i = 0; i < count; ++i)
        {
            hash = (hash ^ static_cast<unsigned char>(buffer[i])) * 0x100000001b3;
        }
        bytes += count;
    }
    return file.eof() ? fmt::format("{} {:016x}", bytes, hash) : std::string();
}

void
WriteSeal(const std::filesystem::path& path, const Json& files)
{
    std::ofstream seal(path, std::ios::binary);
    seal << Json{{"files", files}}.dump(2) << '\n';
    seal.close();
    if (!seal)
    {
        throw FileError(path, "writing failed: disk full?");
    }
}

} // namespace

void
SealFolder(const std::filesystem::path& folder)
{
    Json files = Json::object();
    std::vector<std::filesystem::path> contents;
    std::set<std::filesystem::path> folders{folder};
    for (const auto& entry : ListTree(folder))
    {
        if (entry.is_directory())
        {
            folders.insert(entry.path());
            continue;
        }
        const auto digest = DigestFile(entry.path());
        if (digest.empty())
        {
            throw FileError(entry.path(), "cannot be read");
        }
        files[entry.path().lexically_relative(folder).string()] = digest;
        // An empty file has no more than its name, which its folder keeps.
        if (entry.file_size() > 0)
        {
            contents.push_back(entry.path());
        }
    }
    contents.push_back(folder / SEAL_FILE);
    WriteSeal(contents.back(), files);
    // All of it before the first is waited for: the disk then has one transaction, not one a file.
    std::for_each(contents.begin(), contents.end(), BeginSync);
    std::for_each(contents.begin(), contents.end(), SyncToDisk);
    std::for_each(folders.begin(), folders.end(), SyncToDisk);
}

std::string
FindDamage(const std::filesystem::path& folder)
{
    Json seal;
    try
    {
        seal = LoadJson(folder / SEAL_FILE);
    }
    catch (const ScenarioError&)
    {
        return fmt::format("{} cannot be read", SEAL_FILE);
    }
    const auto files = seal.find("files");
    if (files == seal.end() || !files->is_object())
    {
        return fmt::format("{} is not as it was written", SEAL_FILE);
    }
    for (const auto& [name, digest] : files->items())
    {
        if (digest != DigestFile(folder / name))
        {
            return fmt::format("{} is not as it was written", Json(name).dump(-1, ' ', true));
        }
    }
    return {};
}

} // namespace ns3::gradsync
