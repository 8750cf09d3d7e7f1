// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_OLD_COMMAND_LINE_H
#define GRADSYNC_OLD_COMMAND_LINE_H

#include <string>
#include <vector>

namespace ns3::gradsync
{

/// A command line of before there were verbs, such as --scenario=FILE, and what it is now.
struct RenamedCommand
{
    std::string old; //!< empty: there was nothing to rename
    std::string now;
    std::vector<std::string> arguments; //!< without the program's name
};

/// Puts the verb that an option of old means first, and its value next: run FILE.
RenamedCommand RenameOldCommand(const std::vector<std::string>& arguments);

} // namespace ns3::gradsync

#endif // GRADSYNC_OLD_COMMAND_LINE_H
