// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_DOCUMENT_PATH_H
#define GRADSYNC_DOCUMENT_PATH_H

#include "ns3/json-document.h"

#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// Names between the dots of a path: "jobs.0.gradient" has three. Numbers index lists.
std::vector<std::string> SplitPath(std::string_view path);

/// The first `count` names with dots between them.
std::string JoinSegments(const std::vector<std::string>& segments, size_t count);

/// The index that a name stands for in a list of `size` items; `size` when it stands for none.
size_t ToIndex(std::string_view segment, size_t size);

/// The value at the path, or nullptr.
const Json* FindAtPath(const Json& document, const std::vector<std::string>& segments);
Json* FindAtPath(Json& document, const std::vector<std::string>& segments);

/**
 * Sets the value at the path; objects on the way that do not exist are made.
 * \throws ScenarioError when a name on the way holds neither an object nor a list with that index
 */
void SetAtPath(Json& document, std::string_view path, Json value);

/// Merges `changes` into `target`: objects member by member, anything else replaces.
void MergeInto(Json& target, const Json& changes);

} // namespace ns3::gradsync

#endif // GRADSYNC_DOCUMENT_PATH_H
