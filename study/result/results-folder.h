// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RESULTS_FOLDER_H
#define GRADSYNC_RESULTS_FOLDER_H

#include <filesystem>
#include <set>
#include <string>

namespace ns3::gradsync
{

/// Paths of all files below a folder, relative to it. \throws FileError
std::set<std::string> ListFiles(const std::filesystem::path& folder);

/**
 * A folder that a user names for results, and what in it is the program's own: what its
 * manifest.json lists, or the record of a program that was killed while it replaced files. All else
 * is foreign and is neither written nor removed.
 */
class ResultsFolder
{
  public:
    explicit ResultsFolder(std::filesystem::path folder);

    /**
     * \param names of files, and of folders that are to hold nothing foreign
     * \throws ScenarioError with the name of what is foreign and in the way
     */
    void RequireFree(const std::set<std::string>& names) const;

    /**
     * Moves all files below `staging`, a folder of the store, to this folder, manifest.json last,
     * and removes own ones that are no more.
     * \throws ScenarioError before anything is changed, when something foreign is in the way
     * \throws FileError when the disk fails; the next program that replaces files goes on from
     * there
     */
    void Replace(const std::filesystem::path& staging) const;

  private:
    bool IsInTheWay(const std::string& name) const;
    bool HasPlainFolders(const std::string& name) const;
    void WriteRecord(const std::set<std::string>& files) const;
    void Remove(const std::string& name) const;

    std::filesystem::path m_folder;
    std::set<std::string> m_own; //!< files, relative to the folder
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RESULTS_FOLDER_H
