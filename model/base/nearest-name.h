// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NEAREST_NAME_H
#define GRADSYNC_NEAREST_NAME_H

#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/**
 * The candidate with the smallest Levenshtein distance to `name`, letter case ignored; the first of
 * equals. \returns an empty string when none is near: more than a third of the letters (at least 2)
 * would change
 */
std::string NearestName(std::string_view name, const std::vector<std::string>& candidates);

/// `; did you mean "X"?` for the nearest candidate, or an empty string.
std::string SuggestName(std::string_view name, const std::vector<std::string>& candidates);

/// A name in quotes as messages show it: printable, so that it cannot garble a terminal, and at
/// most 60 characters of it.
std::string QuoteName(std::string_view name);

/// The names in the order given, separated by commas; "none" when there is none.
std::string JoinNames(const std::vector<std::string>& names);

} // namespace ns3::gradsync

#endif // GRADSYNC_NEAREST_NAME_H
