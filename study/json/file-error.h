// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FILE_ERROR_H
#define GRADSYNC_FILE_ERROR_H

#include <filesystem>
#include <stdexcept>
#include <string>

namespace ns3::gradsync
{

/**
 * A disk or a folder does not do what it should: it is full, broken, or belongs to somebody else.
 * Neither the input nor the program is wrong. The text is one line for the user; the program exits
 * with 1 on it.
 */
class FileError : public std::runtime_error
{
  public:
    FileError(const std::filesystem::path& file, const std::string& what)
        : std::runtime_error(file.string() + ": " + what)
    {
    }
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FILE_ERROR_H
