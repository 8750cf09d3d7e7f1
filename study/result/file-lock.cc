// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/file-lock.h"

#include "ns3/scenario-error.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

namespace ns3::gradsync
{

FileLock::FileLock(const std::filesystem::path& path)
    : m_file(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666))
{
    if (m_file < 0)
    {
        throw ScenarioError(path.parent_path().string(), "cannot be written");
    }
}

FileLock::~FileLock()
{
    close(m_file);
}

bool
FileLock::TryShare() const
{
    return flock(m_file, LOCK_SH | LOCK_NB) == 0;
}

bool
FileLock::TryTake() const
{
    return flock(m_file, LOCK_EX | LOCK_NB) == 0;
}

void
FileLock::Take() const
{
    while (flock(m_file, LOCK_EX) != 0)
    {
        if (errno != EINTR)
        {
            throw std::system_error(errno, std::generic_category(), "a lock");
        }
    }
}

} // namespace ns3::gradsync
