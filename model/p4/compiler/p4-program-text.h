// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_PROGRAM_TEXT_H
#define GRADSYNC_P4_PROGRAM_TEXT_H

#include <string>
#include <string_view>

namespace ns3::gradsync
{

/**
 * What is in a compiled program (BMv2 JSON), for people: headers, parser states, tables with keys
 * and actions, registers, counters and the like, the primitives that it uses, and whether it runs
 * here. Programs that are refused are described too. \param text the JSON \param file its name, for
 * messages \throws P4Error when it is no such program
 */
std::string DescribeP4Program(std::string_view text, const std::string& file);

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_PROGRAM_TEXT_H
