// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SHOWN_TEXT_H
#define GRADSYNC_SHOWN_TEXT_H

#include <cstddef>
#include <string>
#include <string_view>

namespace ns3::gradsync
{

/*
 * Text from outside (titles, names, values, file names) as it may be shown on a terminal; as
 * launcher/text.py and gradsync.text have it.
 */

/// Characters of a part of a message.
inline constexpr size_t MAX_SHOWN = 200;

/**
 * The same on one line: what is no printable character of UTF-8 is written out, as \n, \x1b or
 * \u202e.
 */
std::string EscapeText(std::string_view text);

/// EscapeText of a whole message, which names what is allowed: ten times as much.
std::string ShowMessage(std::string_view text);

/// EscapeText of at most MAX_SHOWN characters, the last one an ellipsis where there were more.
std::string ShowText(std::string_view text);

} // namespace ns3::gradsync

#endif // GRADSYNC_SHOWN_TEXT_H
