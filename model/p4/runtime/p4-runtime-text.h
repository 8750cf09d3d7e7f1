// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_RUNTIME_TEXT_H
#define GRADSYNC_P4_RUNTIME_TEXT_H

#include "ns3/p4-program.h"

#include <optional>
#include <string>

namespace ns3::gradsync
{

/// A text that a user gave, with the name of its file for messages.
struct P4NamedText
{
    std::string text;
    std::string file;
};

/**
 * Reads entries of P4Runtime in protobuf's text form, `entities` or the `updates` of a write
 * request: table entries, members and groups of action profiles, multicast groups, clone sessions,
 * registers, meters, value sets. \param info p4info in its text form, which says what the numbers
 * in the entries stand for \returns commands of simple_switch_CLI for a new switch, one a line
 * \throws P4Error that names the file and the entry
 */
std::string MakeP4RuntimeCommands(const P4Program& program,
                                  const P4NamedText& entries,
                                  const P4NamedText& info);

/**
 * The same from the JSON that the tutorials of P4 configure switches by: `table_entries`,
 * `multicast_group_entries` and `clone_session_entries`, with names in place of numbers.
 */
std::string MakeP4JsonCommands(const P4Program& program, const P4NamedText& entries);

/**
 * A configuration as commands of simple_switch_CLI. By the end of its name it is the JSON of the
 * tutorials (.json) or P4Runtime's text (.txtpb, .textproto, .pbtxt, .prototxt), which needs
 * p4info, or else such commands already. \throws P4Error
 */
std::string MakeP4Commands(const P4Program& program,
                           const P4NamedText& configuration,
                           const std::optional<P4NamedText>& info);

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_RUNTIME_TEXT_H
