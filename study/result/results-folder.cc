// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/results-folder.h"

#include "ns3/atomic-file.h"
#include "ns3/file-error.h"
#include "ns3/folder-listing.h"
#include "ns3/json-document.h"
#include "ns3/manifest.h"
#include "ns3/result-columns.h"
#include "ns3/result-files.h"
#include "ns3/run-store.h"
#include "ns3/scenario-error.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// In the store: what a program that replaces files may have written so far.
constexpr const char* RECORD_FILE = "files.json";

std::set<std::string>
ListTables()
{
    std::set<std::string> names{RUNS_FILE};
    for (const auto& table : GetTableFiles())
    {
        names.insert(table.name);
    }
    return names;
}

/// Whether the program ever gives a file this name: a manifest from elsewhere may list any.
bool
IsResultName(const std::string& name)
{
    const std::filesystem::path path(name);
    const std::vector<std::string> parts(path.begin(), path.end());
    if (parts.size() == 3)
    {
        return parts[0] == RunStore::CAPTURE_FOLDER && parts[1].starts_with("run-") &&
               path.lexically_normal() == path && path.has_filename();
    }
    const bool isTrace = name.starts_with("trace") && name.ends_with(".json");
    return parts.size() == 1 && (isTrace || ListTables().contains(name));
}

/// Nothing if the file is not there or is no JSON.
std::optional<Json>
TryLoad(const std::filesystem::path& file)
{
    std::error_code none;
    if (!std::filesystem::is_regular_file(file, none))
    {
        return std::nullopt;
    }
    try
    {
        return LoadJson(file);
    }
    catch (const ScenarioError&)
    {
        return std::nullopt;
    }
}

bool
IsOwnManifest(const Json& manifest)
{
    const auto program = manifest.find("program");
    const auto runs = manifest.find("runs");
    return program != manifest.end() && program->is_object() && runs != manifest.end() &&
           runs->is_array() && program->contains("name") && program->at("name") == "gradsync";
}

void
AddResultNames(const Json& names, std::set<std::string>& own)
{
    for (const auto& name : names)
    {
        if (name.is_string() && IsResultName(name.get<std::string>()))
        {
            own.insert(name.get<std::string>());
        }
    }
}

std::set<std::string>
ReadOwn(const std::filesystem::path& folder)
{
    std::set<std::string> own;
    const auto manifest = TryLoad(folder / MANIFEST_FILE);
    if (manifest && IsOwnManifest(*manifest))
    {
        own.insert(MANIFEST_FILE);
        // Manifests had no list of files once.
        AddResultNames(manifest->value("files", Json(ListTables())), own);
    }
    if (const auto record = TryLoad(folder / RunStore::FOLDER / RECORD_FILE))
    {
        own.insert(MANIFEST_FILE);
        AddResultNames(*record, own);
    }
    return own;
}

/// A folder of our store's name that is none of ours: from its beginning it has a lock.
bool
HasForeignStore(const std::filesystem::path& folder)
{
    std::error_code none;
    const auto store = folder / RunStore::FOLDER;
    const auto hasLock = [&] { return std::filesystem::exists(store / RunStore::LOCK_FILE, none); };
    // What is looked at in a listing, before there is a name, depends on the disk: not in a usual
    // run. A program that began meanwhile wrote its lock first, so after a name a lock must be
    // seen.
    return std::filesystem::exists(store, none) && !hasLock() &&
           !std::filesystem::is_empty(store, none) && !hasLock();
}

} // namespace

std::set<std::string>
ListFiles(const std::filesystem::path& folder)
{
    std::set<std::string> files;
    for (const auto& entry : ListTree(folder))
    {
        if (entry.is_symlink() || !entry.is_directory())
        {
            files.insert(entry.path().lexically_relative(folder).string());
        }
    }
    return files;
}

ResultsFolder::ResultsFolder(std::filesystem::path folder)
    : m_folder(std::move(folder)),
      m_own(ReadOwn(m_folder))
{
}

/// False where a file or a link stands for a folder of the path.
bool
ResultsFolder::HasPlainFolders(const std::string& name) const
{
    std::error_code none;
    for (auto path = std::filesystem::path(name).parent_path(); !path.empty();
         path = path.parent_path())
    {
        const auto status = std::filesystem::symlink_status(m_folder / path, none);
        if (std::filesystem::exists(status) && !std::filesystem::is_directory(status))
        {
            return false;
        }
    }
    return true;
}

bool
ResultsFolder::IsInTheWay(const std::string& name) const
{
    std::error_code none;
    const auto status = std::filesystem::symlink_status(m_folder / name, none);
    if (!HasPlainFolders(name))
    {
        return true;
    }
    if (!std::filesystem::is_directory(status))
    {
        return std::filesystem::exists(status) && !m_own.contains(name);
    }
    const auto files = ListFiles(m_folder / name);
    return !name.starts_with(RunStore::CAPTURE_FOLDER) ||
           std::any_of(files.begin(), files.end(), [&](const std::string& file) {
               return !m_own.contains(name + "/" + file);
           });
}

void
ResultsFolder::RequireFree(const std::set<std::string>& names) const
{
    const auto refuse = [&](const std::string& name) {
        throw ScenarioError((m_folder / name).string(),
                            "is in the way and not listed by a manifest.json of gradsync: move it, "
                            "or name another folder with --out");
    };
    if (HasForeignStore(m_folder))
    {
        refuse(RunStore::FOLDER);
    }
    const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
        return IsInTheWay(name);
    });
    if (found != names.end())
    {
        refuse(*found);
    }
}

void
ResultsFolder::WriteRecord(const std::set<std::string>& files) const
{
    AtomicFile record(m_folder / RunStore::FOLDER / RECORD_FILE);
    record.GetStream() << Json(files).dump(2) << '\n';
    record.Commit();
}

void
ResultsFolder::Remove(const std::string& name) const
{
    if (!HasPlainFolders(name))
    {
        return;
    }
    std::error_code error;
    std::filesystem::remove(m_folder / name, error);
    if (error)
    {
        // Nothing would know any more that it is ours.
        throw FileError(m_folder / name, "cannot be removed: " + error.message());
    }
    for (auto path = std::filesystem::path(name).parent_path(); !path.empty();
         path = path.parent_path())
    {
        std::filesystem::remove(m_folder / path, error); // unless something is in it
    }
}

void
ResultsFolder::Replace(const std::filesystem::path& staging) const
{
    auto files = ListFiles(staging);
    RequireFree(files);
    auto record = m_own;
    record.insert(files.begin(), files.end());
    WriteRecord(record);
    for (const auto& name : m_own)
    {
        if (!files.contains(name))
        {
            Remove(name);
        }
    }
    files.erase(MANIFEST_FILE);
    std::set<std::filesystem::path> folders{m_folder};
    for (const auto& name : files)
    {
        const auto target = m_folder / name;
        std::filesystem::create_directories(target.parent_path());
        Rename(staging / name, target);
        folders.insert(target.parent_path());
    }
    std::for_each(folders.begin(), folders.end(), SyncToDisk);
    Rename(staging / MANIFEST_FILE, m_folder / MANIFEST_FILE);
    SyncToDisk(m_folder);
    std::filesystem::remove(m_folder / RunStore::FOLDER / RECORD_FILE);
}

} // namespace ns3::gradsync
