// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GZIP_TEXT_H
#define GRADSYNC_GZIP_TEXT_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ns3::gradsync
{

/// What is no gzip, or too large. The text follows the name of a file.
class GzipError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/// By its first two bytes (RFC 1952).
bool IsGzip(std::string_view content);

/// What was compressed, of all members of the content. \throws GzipError
std::string Gunzip(std::string_view content, uint64_t maxBytes);

} // namespace ns3::gradsync

#endif // GRADSYNC_GZIP_TEXT_H
