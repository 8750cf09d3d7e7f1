// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/prepared-sweep.h"

#include "ns3/atomic-file.h"
#include "ns3/json-document.h"
#include "ns3/run-store.h"
#include "ns3/scenario-error.h"

#include <fmt/format.h>
#include <system_error>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr const char* PREPARED_FILE = "prepared.json";

std::string
FormatHash(uint64_t hash)
{
    return fmt::format("{:016x}", hash);
}

} // namespace

PreparedSweep::PreparedSweep(const std::filesystem::path& folder)
    : m_file(folder / RunStore::FOLDER / PREPARED_FILE)
{
}

void
PreparedSweep::Write(const std::map<std::string, FileIdentity>& files,
                     const std::vector<uint64_t>& hashes) const
{
    Json record{{"files", DescribeFiles(files)}, {"runs", Json::array()}};
    for (const auto hash : hashes)
    {
        record["runs"].push_back(FormatHash(hash));
    }
    AtomicFile file(m_file);
    file.GetStream() << record.dump(2) << '\n';
    file.Commit();
}

void
PreparedSweep::Remove() const
{
    std::error_code none;
    std::filesystem::remove(m_file, none);
}

/// Empty when there is none.
Json
PreparedSweep::Load() const
{
    std::error_code none;
    return std::filesystem::exists(m_file, none) ? LoadJson(m_file) : Json::object();
}

void
PreparedSweep::Expect(NamedFiles& files) const
{
    std::map<std::string, FileIdentity> expected;
    try
    {
        for (const auto& file : Load().value("files", Json::array()))
        {
            expected[file.at("file")] = {
                file.at("bytes"),
                std::stoull(file.at("hash").get<std::string>(), nullptr, 16)};
        }
    }
    catch (const Json::exception&)
    {
        throw ScenarioError(m_file.string(), "is not as it was written: prepare the sweep again");
    }
    files.Expect(std::move(expected));
}

void
PreparedSweep::Check(const std::vector<uint64_t>& hashes) const
{
    const auto record = Load();
    const auto runs = record.find("runs");
    if (runs == record.end())
    {
        return;
    }
    Json own = Json::array();
    for (const auto hash : hashes)
    {
        own.push_back(FormatHash(hash));
    }
    if (*runs != own)
    {
        throw ScenarioError(m_file.string(),
                            "these are not the runs that were prepared: the scenario, its "
                            "overrides or the program have changed; prepare the sweep again");
    }
}

} // namespace ns3::gradsync
