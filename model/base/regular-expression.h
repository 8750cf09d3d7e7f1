// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_REGULAR_EXPRESSION_H
#define GRADSYNC_REGULAR_EXPRESSION_H

#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * POSIX's extended regular expressions (regcomp): a file that includes the standard library's takes
 * seconds more to compile.
 *
 * \param expression in which `.` and `[^x]` fit a newline, too \throws std::invalid_argument when
 * it is none \returns what the whole of it fits in the text, the first place of all and there the
 * longest, and then what each group of it fits, "" where it takes no part; none if it fits nowhere.
 * A text ends where a byte is 0.
 */
std::vector<std::string> FindGroups(const std::string& expression, const std::string& text);

/// Whether an expression fits the text from its begin to its end, bytes of 0 included.
bool FitsWhole(const std::string& expression, const std::string& text);

} // namespace ns3::gradsync

#endif // GRADSYNC_REGULAR_EXPRESSION_H
