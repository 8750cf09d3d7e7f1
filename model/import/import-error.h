// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_IMPORT_ERROR_H
#define GRADSYNC_IMPORT_ERROR_H

#include <stdexcept>

namespace ns3::gradsync
{

/// What is wrong in a file with a plan; the text, with file and line, is meant for the user.
class ImportError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_IMPORT_ERROR_H
