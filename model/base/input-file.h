// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_INPUT_FILE_H
#define GRADSYNC_INPUT_FILE_H

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace ns3::gradsync
{

/// A file cannot be taken. The text is for the user and does not name the file.
class InputFileError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/// Of a file that no scenario can say more about.
inline constexpr uint64_t MAX_INPUT_BYTES = uint64_t{64} << 20;

/**
 * The content of a file that a user names. Only regular files: a pipe would be waited for, and a
 * device may have no end.
 * \throws InputFileError
 */
std::string ReadInputFile(const std::filesystem::path& file, uint64_t maxBytes = MAX_INPUT_BYTES);

} // namespace ns3::gradsync

#endif // GRADSYNC_INPUT_FILE_H
