// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FILE_LOCK_H
#define GRADSYNC_FILE_LOCK_H

#include <filesystem>

namespace ns3::gradsync
{

/// A file that programs lock against each other, held until the end of its owner and of all
/// processes that it forked. The file stays.
class FileLock
{
  public:
    /// \throws ScenarioError when the file cannot be made
    explicit FileLock(const std::filesystem::path& path);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

    /// With others that share it. False if one has it alone.
    bool TryShare() const;

    /// False if others have it.
    bool TryTake() const;

    /// Waits until no other has it.
    void Take() const;

  private:
    int m_file;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FILE_LOCK_H
