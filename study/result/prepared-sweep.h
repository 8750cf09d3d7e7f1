// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PREPARED_SWEEP_H
#define GRADSYNC_PREPARED_SWEEP_H

#include "ns3/named-files.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * What a sweep was when it was prepared: its files and the hashes of its runs, in the store of its
 * results folder. Programs that do a part of it, on whatever machine, read the scenario for
 * themselves: with this they do what was prepared, or nothing.
 */
class PreparedSweep
{
  public:
    /// \param folder of results
    explicit PreparedSweep(const std::filesystem::path& folder);

    /// Says what the sweep is from now on. \param hashes [run]
    void Write(const std::map<std::string, FileIdentity>& files,
               const std::vector<uint64_t>& hashes) const;

    /// Nothing has been prepared any more.
    void Remove() const;

    /**
     * Tells the files of a scenario what they must be, if a sweep was prepared.
     * \throws ScenarioError when one that has been read is not
     */
    void Expect(NamedFiles& files) const;

    /// \throws ScenarioError when other runs were prepared
    void Check(const std::vector<uint64_t>& hashes) const;

  private:
    Json Load() const;

    std::filesystem::path m_file;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PREPARED_SWEEP_H
