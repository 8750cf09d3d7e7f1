// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/run-store.h"

#include "ns3/asynchronous-rows.h"
#include "ns3/atomic-file.h"
#include "ns3/file-error.h"
#include "ns3/folder-listing.h"
#include "ns3/folder-seal.h"
#include "ns3/json-document.h"
#include "ns3/result-rows.h"
#include "ns3/scenario-error.h"
#include "ns3/trace-writer.h"
#include "ns3/training-rows.h"

#include <array>
#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <ostream>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Taken by who puts a run in its place.
constexpr const char* PUBLISH_FILE = ".publish";
constexpr const char* TEMPORARY_PREFIX = ".tmp-";

/// Number and hash in the name of a run's folder.
struct RunName
{
    uint32_t run;
    uint64_t hash;
};

bool
ParseName(const std::string& name, RunName& parsed)
{
    const auto dash = name.find('-');
    if (dash == std::string::npos)
    {
        return false;
    }
    const char* begin = name.data();
    const char* end = begin + name.size();
    const auto number = std::from_chars(begin, begin + dash, parsed.run);
    const auto hash = std::from_chars(begin + dash + 1, end, parsed.hash, 16);
    return number.ec == std::errc{} && number.ptr == begin + dash && hash.ec == std::errc{} &&
           hash.ptr == end;
}

/// A file that is made with its first byte.
class LateFile : public std::filebuf
{
  public:
    explicit LateFile(std::filesystem::path path)
        : m_path(std::move(path))
    {
    }

  protected:
    int_type overflow(int_type character) override
    {
        return Make() ? std::filebuf::overflow(character) : traits_type::eof();
    }

    std::streamsize xsputn(const char* text, std::streamsize count) override
    {
        return count == 0 || !Make() ? 0 : std::filebuf::xsputn(text, count);
    }

  private:
    bool Make()
    {
        return is_open() || open(m_path, std::ios::out | std::ios::binary) != nullptr;
    }

    std::filesystem::path m_path;
};

/// Makes no file where nothing is written: of the tables of most runs half are empty, and to make a
/// file takes longer than all else that is done with it.
template <typename Write>
void
WriteFile(const std::filesystem::path& path, Write write)
{
    LateFile file(path);
    std::ostream stream(&file);
    write(stream);
    if (!stream || (file.is_open() && file.close() == nullptr))
    {
        throw FileError(path, "writing failed: disk full?");
    }
}

} // namespace

RunStore::RunStore(const std::filesystem::path& folder, std::vector<uint64_t> hashes, Access access)
    : m_folder(folder / FOLDER),
      m_hashes(std::move(hashes))
{
    std::error_code error;
    std::filesystem::create_directories(m_folder, error);
    if (error)
    {
        throw ScenarioError(folder.string(), "cannot be made a results folder: " + error.message());
    }
    m_lock.emplace(m_folder / LOCK_FILE);
    if (!(access == Access::Alone ? m_lock->TryTake() : m_lock->TryShare()))
    {
        throw ScenarioError(folder.string(), "another gradsync writes to this folder");
    }
    if (access == Access::WithOthers)
    {
        return;
    }
    // Whoever writes a run holds the lock until its end: what is there now is of programs that
    // ended before they had.
    for (const auto& name : ListNames(m_folder))
    {
        if (name.starts_with(TEMPORARY_PREFIX) || AtomicFile::IsTemporary(name))
        {
            std::filesystem::remove_all(m_folder / name);
        }
    }
    Adopt();
}

void
RunStore::Adopt() const
{
    for (const auto& name : ListNames(m_folder))
    {
        RunName parsed{};
        if (!ParseName(name, parsed) || IsWanted(name))
        {
            continue;
        }
        // The sweep has grown or shrunk before this run: it is still good, under another number.
        for (uint32_t run = 0; run < m_hashes.size(); ++run)
        {
            if (m_hashes[run] == parsed.hash && !std::filesystem::exists(GetFolder(run)))
            {
                Rename(m_folder / name, GetFolder(run));
                break;
            }
        }
    }
}

std::string
RunStore::GetName(uint32_t run) const
{
    return fmt::format("{}-{:016x}", run, m_hashes[run]);
}

bool
RunStore::IsWanted(const std::string& name) const
{
    RunName parsed{};
    return ParseName(name, parsed) && parsed.run < m_hashes.size() && GetName(parsed.run) == name;
}

std::filesystem::path
RunStore::GetFolder(uint32_t run) const
{
    return m_folder / GetName(run);
}

StoredRun
RunStore::Look(uint32_t run) const
{
    const auto folder = GetFolder(run);
    if (!std::filesystem::exists(folder))
    {
        return {};
    }
    return {true, FindDamage(folder)};
}

std::filesystem::path
RunStore::MakeTemporary(const std::string& name) const
{
    // Making a folder that is there already fails, whoever made it on whatever machine.
    for (uint32_t attempt = 0;; ++attempt)
    {
        auto folder =
            m_folder / fmt::format("{}{}-{}-{}", TEMPORARY_PREFIX, name, getpid(), attempt);
        if (std::filesystem::create_directory(folder))
        {
            return folder;
        }
    }
}

std::filesystem::path
RunStore::Begin(uint32_t run) const
{
    return MakeTemporary(GetName(run));
}

void
RunStore::Write(uint32_t run, const std::filesystem::path& temporary, const RunResult& result) const
{
    WriteTables(temporary, result);
    Publish(run, temporary);
}

void
RunStore::WriteTables(const std::filesystem::path& temporary, const RunResult& result)
{
    using RowsWriter = void (*)(const RunResult& result, std::ostream& stream);
    constexpr std::array<std::pair<const char*, RowsWriter>, 14> ROW_TABLES{{
        {ITERATION_FILE, WriteIterations},
        {LINK_FILE, WriteLinks},
        {FAULT_FILE, WriteFaults},
        {SAMPLE_FILE, WriteSamples},
        {FLOW_FILE, WriteFlows},
        {BLOCKED_FILE, WriteBlocked},
        {UNFINISHED_FILE, WriteUnfinished},
        {MESSAGE_FILE, WriteMessages},
        {TRAINING_FILE, WriteTraining},
        {STREAM_FILE, WriteStreams},
        {COLLECTIVE_FILE, WriteCollectives},
        {CRITICAL_FILE, WriteCriticalPaths},
        {UPDATE_FILE, WriteUpdates},
        {WORKER_FILE, WriteWorkers},
    }};
    for (const auto& [name, write] : ROW_TABLES)
    {
        WriteFile(temporary / name,
                  [&result, write = write](std::ostream& out) { write(result, out); });
    }
    if (result.recordTrace)
    {
        WriteFile(temporary / TRACE_FILE, [&](std::ostream& out) { WriteTrace(result, out); });
    }
    WriteFile(temporary / SUMMARY_FILE,
              [&](std::ostream& out) { out << ToJson(Store(result.summary)).dump(2) << '\n'; });
    SealFolder(temporary);
}

void
RunStore::Publish(uint32_t run, const std::filesystem::path& temporary) const
{
    // Only one at a time looks at what is there and replaces it: a whole run never goes.
    const FileLock lock(m_folder / PUBLISH_FILE);
    lock.Take();
    const auto stored = Look(run);
    if (stored.IsWhole())
    {
        std::filesystem::remove_all(temporary);
        return;
    }
    if (stored.exists)
    {
        const auto aside = MakeTemporary("damaged");
        Rename(GetFolder(run), aside);
        std::filesystem::remove_all(aside);
    }
    Rename(temporary, GetFolder(run));
    SyncToDisk(m_folder);
}

StoredSummary
RunStore::ReadSummary(uint32_t run) const
{
    return ToStoredSummary(LoadJson(GetFolder(run) / SUMMARY_FILE));
}

void
RunStore::Clear() const
{
    for (const auto& name : ListNames(m_folder))
    {
        RunName parsed{};
        if (ParseName(name, parsed))
        {
            std::filesystem::remove_all(m_folder / name);
        }
    }
}

void
RunStore::Prune() const
{
    for (const auto& name : ListNames(m_folder))
    {
        RunName parsed{};
        if (ParseName(name, parsed) && !IsWanted(name))
        {
            std::filesystem::remove_all(m_folder / name);
        }
    }
}

} // namespace ns3::gradsync
