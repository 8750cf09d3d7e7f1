// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_JSON_DOCUMENT_H
#define GRADSYNC_JSON_DOCUMENT_H

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ns3::gradsync
{

/// JSON whose objects keep the order in which the file gives their keys: the order of a sweep.
using Json = nlohmann::ordered_json;

/// Files above this size are refused before they are read.
constexpr uint64_t MAX_JSON_FILE_BYTES = 16 * 1024 * 1024;
/// Nesting above this depth is refused; keeps recursive code off the end of the stack.
constexpr uint32_t MAX_JSON_DEPTH = 64;

/**
 * Parses JSON strictly: no comments, no duplicate keys, valid UTF-8, bounded depth.
 * \param text the document
 * \param file name for messages
 * \throws ScenarioError with line, column and byte
 */
Json ParseJson(std::string_view text, const std::string& file);

/**
 * Reads a whole regular file of at most MAX_JSON_FILE_BYTES.
 * \throws ScenarioError when the file is missing (with the nearest name in its folder), a
 * directory, too large or unreadable
 */
std::string ReadJsonFile(const std::filesystem::path& file);

/// Reads a file and parses it. \throws ScenarioError as ReadJsonFile and ParseJson
Json LoadJson(const std::filesystem::path& file);

} // namespace ns3::gradsync

#endif // GRADSYNC_JSON_DOCUMENT_H
