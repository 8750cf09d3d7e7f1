// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CSV_TEXT_H
#define GRADSYNC_CSV_TEXT_H

#include <string>
#include <string_view>

namespace ns3::gradsync
{

/// A CSV field, quoted where RFC 4180 asks for it.
std::string QuoteCsv(std::string_view text);

/**
 * A CSV field of text from outside. One that a spreadsheet would take for a formula (it begins with
 * =, +, - or @), and one that begins with an apostrophe, gets an apostrophe before it, which is how
 * spreadsheets mark text; readers take one off. Control characters are written out, so that a row
 * is a line.
 */
std::string WriteCsvText(std::string_view text);

} // namespace ns3::gradsync

#endif // GRADSYNC_CSV_TEXT_H
