// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_ERROR_H
#define GRADSYNC_P4_ERROR_H

#include <stdexcept>
#include <string>

namespace ns3::gradsync
{

/**
 * A P4 program or its runtime configuration that cannot be used, or that did what it must not. The
 * text is one line: the file, the JSON path or the line in it, what was found and what is possible.
 */
class P4Error : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;

    /// `where` is a file with a JSON path or a line; `what` follows a colon.
    P4Error(const std::string& where, const std::string& what)
        : std::runtime_error(where + ": " + what)
    {
    }
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_ERROR_H
