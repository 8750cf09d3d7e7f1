// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/run-store.h"

#include "ns3/atomic-file.h"
#include "ns3/json-document.h"
#include "ns3/result-rows.h"
#include "ns3/scenario-error.h"
#include "ns3/trace-writer.h"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr const char* LOCK_FILE = ".lock";
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

std::vector<std::string>
ListNames(const std::filesystem::path& folder)
{
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
    {
        names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

template <typename Write>
void
WriteFile(const std::filesystem::path& path, Write write)
{
    AtomicFile file(path);
    write(file.GetStream());
    file.Commit();
}

} // namespace

RunStore::RunStore(const std::filesystem::path& folder, std::vector<uint64_t> hashes, Access access)
    : m_folder(folder / ".runs"),
      m_hashes(std::move(hashes))
{
    std::error_code error;
    std::filesystem::create_directories(m_folder, error);
    if (error)
    {
        throw ScenarioError(folder.string(), "cannot be made a results folder: " + error.message());
    }
    Lock(access);
    if (access == Access::WithOthers)
    {
        return;
    }
    for (const auto& name : ListNames(m_folder))
    {
        if (name.starts_with(TEMPORARY_PREFIX))
        {
            std::filesystem::remove_all(m_folder / name);
        }
    }
    Adopt();
}

RunStore::~RunStore()
{
    close(m_lock);
}

void
RunStore::Lock(Access access)
{
    m_lock = open((m_folder / LOCK_FILE).c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (m_lock < 0)
    {
        throw ScenarioError(m_folder.string(), "cannot be written");
    }
    if (flock(m_lock, (access == Access::Alone ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0)
    {
        close(m_lock);
        throw ScenarioError(m_folder.parent_path().string(),
                            "another gradsync writes to this folder");
    }
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
            if (m_hashes[run] == parsed.hash && !Has(run))
            {
                std::filesystem::rename(m_folder / name, GetFolder(run));
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

bool
RunStore::Has(uint32_t run) const
{
    return std::filesystem::exists(GetFolder(run) / SUMMARY_FILE);
}

std::filesystem::path
RunStore::Begin(uint32_t run) const
{
    auto temporary = m_folder / (TEMPORARY_PREFIX + GetName(run));
    std::filesystem::remove_all(temporary);
    std::filesystem::create_directory(temporary);
    return temporary;
}

void
RunStore::Write(uint32_t run, const RunResult& result) const
{
    const auto temporary = m_folder / (TEMPORARY_PREFIX + GetName(run));
    WriteFile(temporary / ITERATION_FILE, [&](std::ostream& out) { WriteIterations(result, out); });
    WriteFile(temporary / LINK_FILE, [&](std::ostream& out) { WriteLinks(result, out); });
    WriteFile(temporary / FAULT_FILE, [&](std::ostream& out) { WriteFaults(result, out); });
    WriteFile(temporary / SAMPLE_FILE, [&](std::ostream& out) { WriteSamples(result, out); });
    WriteFile(temporary / FLOW_FILE, [&](std::ostream& out) { WriteFlows(result, out); });
    WriteFile(temporary / BLOCKED_FILE, [&](std::ostream& out) { WriteBlocked(result, out); });
    WriteFile(temporary / UNFINISHED_FILE,
              [&](std::ostream& out) { WriteUnfinished(result, out); });
    if (result.recordTrace)
    {
        WriteFile(temporary / TRACE_FILE, [&](std::ostream& out) { WriteTrace(result, out); });
    }
    WriteFile(temporary / MESSAGE_FILE, [&](std::ostream& out) { WriteMessages(result, out); });
    WriteFile(temporary / SUMMARY_FILE,
              [&](std::ostream& out) { out << ToJson(result.summary).dump(2) << '\n'; });
    std::filesystem::rename(temporary, GetFolder(run));
}

RunSummary
RunStore::ReadSummary(uint32_t run) const
{
    return ToSummary(LoadJson(GetFolder(run) / SUMMARY_FILE));
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
