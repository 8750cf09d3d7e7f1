// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/named-files.h"

#include "ns3/hash.h"
#include "ns3/scenario-error.h"

#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

Json
DescribeFiles(const std::map<std::string, FileIdentity>& files)
{
    Json list = Json::array();
    for (const auto& [name, identity] : files)
    {
        list.push_back({{"file", name},
                        {"bytes", identity.bytes},
                        {"hash", fmt::format("{:016x}", identity.hash)}});
    }
    return list;
}

NamedFiles::NamedFiles(std::filesystem::path folder, uint64_t maxBytes)
    : m_folder(std::move(folder)),
      m_maxBytes(maxBytes)
{
}

std::string
NamedFiles::GetName(const std::filesystem::path& file) const
{
    const auto name = file.lexically_proximate(m_folder);
    return (name.empty() ? file : name).lexically_normal().string();
}

void
NamedFiles::CheckExpected(const std::filesystem::path& file, const FileIdentity& found) const
{
    const auto expected = m_expected.find(GetName(file));
    if (expected != m_expected.end() && expected->second != found)
    {
        throw ScenarioError(file.string(),
                            fmt::format("has changed since the sweep was prepared: found {} bytes "
                                        "that hash to {:016x}, expected {} that hash to {:016x}; "
                                        "restore it, or prepare the sweep again",
                                        found.bytes,
                                        found.hash,
                                        expected->second.bytes,
                                        expected->second.hash));
    }
}

NamedFiles::File&
NamedFiles::Keep(const std::filesystem::path& file, std::string text)
{
    const FileIdentity identity{text.size(), Hash64(text)};
    CheckExpected(file, identity);
    m_bytes += text.size();
    if (m_bytes > m_maxBytes)
    {
        throw ScenarioError(file.string(),
                            fmt::format("with it the files of the scenario have {} bytes, at most "
                                        "{} are allowed",
                                        m_bytes,
                                        m_maxBytes));
    }
    auto& kept = m_files[GetName(file)];
    kept = {identity, std::make_shared<const std::string>(std::move(text)), {}};
    return kept;
}

std::shared_ptr<const std::string>
NamedFiles::Read(const std::filesystem::path& file, uint64_t maxBytes)
{
    const auto known = m_files.find(GetName(file));
    return known != m_files.end() ? known->second.text
                                  : Keep(file, ReadInputFile(file, maxBytes)).text;
}

const Json&
NamedFiles::ReadJson(const std::filesystem::path& file)
{
    const auto known = m_files.find(GetName(file));
    auto& kept = known != m_files.end() ? known->second : Keep(file, ReadJsonFile(file));
    if (!kept.document)
    {
        kept.document = ParseJson(*kept.text, file.string());
    }
    return *kept.document;
}

void
NamedFiles::Expect(std::map<std::string, FileIdentity> files)
{
    m_expected = std::move(files);
    for (const auto& [name, file] : m_files)
    {
        CheckExpected(m_folder / name, file.identity);
    }
}

std::map<std::string, FileIdentity>
NamedFiles::List() const
{
    std::map<std::string, FileIdentity> files;
    for (const auto& [name, file] : m_files)
    {
        files[name] = file.identity;
    }
    return files;
}

} // namespace ns3::gradsync
