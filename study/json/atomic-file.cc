// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/atomic-file.h"

#include "ns3/file-error.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace ns3::gradsync
{

void
BeginSync([[maybe_unused]] const std::filesystem::path& path)
{
#ifdef __linux__
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file >= 0)
    {
        sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);
        close(file);
    }
#endif
}

void
SyncToDisk(const std::filesystem::path& path)
{
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    // Some file systems cannot sync folders (EINVAL): they do so with the file, or not at all.
    const bool isSynced = file >= 0 && (fsync(file) == 0 || errno == EINVAL);
    const int error = errno;
    if (file >= 0)
    {
        close(file);
    }
    if (!isSynced)
    {
        throw FileError(path, "cannot be written: " + std::generic_category().message(error));
    }
}

void
Rename(const std::filesystem::path& from, const std::filesystem::path& to)
{
    std::error_code error;
    std::filesystem::rename(from, to, error);
    if (error)
    {
        throw FileError(to, "cannot be written: " + error.message());
    }
}

bool
AtomicFile::IsTemporary(const std::string& name)
{
    return name.starts_with('.') && name.ends_with(".tmp");
}

AtomicFile::AtomicFile(std::filesystem::path path)
    : m_path(std::move(path)),
      m_temporary(m_path.parent_path() /
                  fmt::format(".{}.{}.tmp", m_path.filename().string(), getpid())),
      m_stream(m_temporary, std::ios::binary | std::ios::trunc)
{
    if (!m_stream)
    {
        throw FileError(m_path, "cannot be written");
    }
}

AtomicFile::~AtomicFile()
{
    std::error_code ignored;
    std::filesystem::remove(m_temporary, ignored);
}

void
AtomicFile::Commit()
{
    m_stream.close();
    if (!m_stream)
    {
        throw FileError(m_path, "writing failed: disk full?");
    }
    SyncToDisk(m_temporary);
    Rename(m_temporary, m_path);
    SyncToDisk(m_path.has_parent_path() ? m_path.parent_path() : ".");
}

} // namespace ns3::gradsync
