// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/atomic-file.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdexcept>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace ns3::gradsync
{

void
SyncToDisk(const std::filesystem::path& path)
{
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool isOpen = file >= 0;
    // Some file systems cannot sync folders (EINVAL): they do so with the file, or not at all.
    const bool isSynced = isOpen && (fsync(file) == 0 || errno == EINVAL);
    if (isOpen)
    {
        close(file);
    }
    if (!isSynced)
    {
        throw std::runtime_error(path.string() + ": writing failed: disk full?");
    }
}

AtomicFile::AtomicFile(std::filesystem::path path)
    : m_path(std::move(path)),
      m_temporary(m_path.parent_path() /
                  fmt::format(".{}.{}.tmp", m_path.filename().string(), getpid())),
      m_stream(m_temporary, std::ios::binary | std::ios::trunc)
{
    if (!m_stream)
    {
        throw std::runtime_error(m_path.string() + ": cannot be written");
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
        throw std::runtime_error(m_path.string() + ": writing failed: disk full?");
    }
    SyncToDisk(m_temporary);
    std::filesystem::rename(m_temporary, m_path);
    SyncToDisk(m_path.has_parent_path() ? m_path.parent_path() : ".");
}

} // namespace ns3::gradsync
