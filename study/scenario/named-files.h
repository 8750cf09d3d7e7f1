// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NAMED_FILES_H
#define GRADSYNC_NAMED_FILES_H

#include "ns3/input-file.h"
#include "ns3/json-document.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What a named file was when it was read.
struct FileIdentity
{
    uint64_t bytes{0};
    uint64_t hash{0}; //!< of its content, as the digests of a scenario

    bool operator==(const FileIdentity&) const = default;
};

/// `[{"file": "net.json", "bytes": 312, "hash": "..."}]`, as manifests have them.
Json DescribeFiles(const std::map<std::string, FileIdentity>& files);

/**
 * The files that a scenario names: topologies, profiles, traces, programs, algorithms.
 *
 * Each is read once, when somebody first wants it; whoever wants it later gets what was read then,
 * in child processes too. So what was checked and hashed is what is run and what the manifest has,
 * whatever becomes of the file meanwhile. Nobody else opens one (tests/e2e/rooms_test.py).
 */
class NamedFiles
{
  public:
    /// All of them together are not larger.
    static constexpr uint64_t MAX_TOTAL_BYTES = uint64_t{256} << 20;

    /// \param folder that names in lists are relative to: the scenario's
    explicit NamedFiles(std::filesystem::path folder = {}, uint64_t maxBytes = MAX_TOTAL_BYTES);

    /**
     * The content of a file.
     * \throws InputFileError as ReadInputFile; ScenarioError when it is not what was expected
     */
    std::shared_ptr<const std::string> Read(const std::filesystem::path& file,
                                            uint64_t maxBytes = MAX_INPUT_BYTES);

    /// As LoadJson.
    const Json& ReadJson(const std::filesystem::path& file);

    /// From now on these files must be what they were. \param files by name
    void Expect(std::map<std::string, FileIdentity> files);

    /// What has been read so far, by the name relative to the folder.
    std::map<std::string, FileIdentity> List() const;

  private:
    struct File
    {
        FileIdentity identity;
        std::shared_ptr<const std::string> text;
        std::optional<Json> document; //!< parsed, once somebody wanted it
    };

    std::string GetName(const std::filesystem::path& file) const;
    File& Keep(const std::filesystem::path& file, std::string text);
    void CheckExpected(const std::filesystem::path& file, const FileIdentity& found) const;

    std::filesystem::path m_folder;
    uint64_t m_maxBytes;
    std::map<std::string, File> m_files; //!< by name
    std::map<std::string, FileIdentity> m_expected;
    uint64_t m_bytes{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NAMED_FILES_H
