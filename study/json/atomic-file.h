// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ATOMIC_FILE_H
#define GRADSYNC_ATOMIC_FILE_H

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>

namespace ns3::gradsync
{

/// Begins to write a file's content to the disk, if the system can: several are there sooner when
/// all have begun before the first SyncToDisk. Whether it succeeds, that tells.
void BeginSync(const std::filesystem::path& path);

/// Returns when a file's content, or the names in a folder, are on the disk. \throws FileError
void SyncToDisk(const std::filesystem::path& path);

/// \throws FileError
void Rename(const std::filesystem::path& from, const std::filesystem::path& to);

/// Writes a file under a temporary name of this process in the same folder; Commit puts it in
/// place, all at once, when it is on the disk.
class AtomicFile
{
  public:
    /// Whether a file's name is that of one that a killed program has left.
    static bool IsTemporary(const std::string& name);

    /// \throws FileError when the file cannot be made
    explicit AtomicFile(std::filesystem::path path);

    /// Without Commit nothing is left behind.
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    std::ostream& GetStream()
    {
        return m_stream;
    }

    /// \throws FileError when something could not be written
    void Commit();

  private:
    std::filesystem::path m_path;
    std::filesystem::path m_temporary;
    std::ofstream m_stream;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ATOMIC_FILE_H
