// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/input-file.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace ns3::gradsync
{

namespace
{

constexpr size_t BLOCK_BYTES = 1 << 16;

[[noreturn]] void
FailWithErrno()
{
    throw InputFileError("cannot be read: " + std::generic_category().message(errno));
}

/// A file descriptor that is closed at the end.
class OpenFile
{
  public:
    explicit OpenFile(const std::filesystem::path& file)
        // Without O_NONBLOCK a pipe that nobody writes to would be waited for here.
        : m_descriptor(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC))
    {
        if (m_descriptor < 0)
        {
            FailWithErrno();
        }
    }

    ~OpenFile()
    {
        close(m_descriptor);
    }

    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

    int Get() const
    {
        return m_descriptor;
    }

  private:
    int m_descriptor;
};

void
CheckSize(uint64_t bytes, uint64_t maxBytes)
{
    if (bytes > maxBytes)
    {
        throw InputFileError(fmt::format("has {} bytes, at most {} are allowed", bytes, maxBytes));
    }
}

} // namespace

std::string
ReadInputFile(const std::filesystem::path& file, uint64_t maxBytes)
{
    const OpenFile input(file);

    struct stat status
    {
    };

    if (fstat(input.Get(), &status) != 0)
    {
        FailWithErrno();
    }
    if (!S_ISREG(status.st_mode))
    {
        throw InputFileError(S_ISDIR(status.st_mode) ? "is a directory, expected a file"
                                                     : "is not a regular file");
    }
    CheckSize(static_cast<uint64_t>(status.st_size), maxBytes);
    std::string text;
    while (true)
    {
        // It may have grown since, and files of the kernel tell no size.
        const auto before = text.size();
        text.resize(before + BLOCK_BYTES);
        const auto count = read(input.Get(), text.data() + before, BLOCK_BYTES);
        text.resize(before + static_cast<size_t>(count > 0 ? count : 0));
        if (count == 0)
        {
            return text;
        }
        if (count < 0 && errno != EINTR)
        {
            FailWithErrno();
        }
        CheckSize(text.size(), maxBytes);
    }
}

} // namespace ns3::gradsync
