// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_JSON_H
#define GRADSYNC_P4_JSON_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * A view of a value in a BMv2 JSON file that knows its path, for messages.
 *
 * All readers throw P4Error when the value does not fit. The document must outlive the view.
 */
class P4Json
{
  public:
    /// \param value the document \param file its name, the beginning of all messages
    P4Json(const nlohmann::json& value, std::string file);

    /// Error with free text about this value.
    [[noreturn]] void Fail(const std::string& problem) const;

    /// The member. \throws P4Error when this is no object or has no such member
    P4Json Get(const std::string& key) const;
    /// The member, or nothing when it is missing or null.
    std::optional<P4Json> Find(const std::string& key) const;

    /// Whether there is such a member, even if it is null.
    bool Has(const std::string& key) const
    {
        return m_value->is_object() && m_value->contains(key);
    }

    /// All items of an array.
    std::vector<P4Json> GetItems() const;
    /// The items of an array that must have so many.
    std::vector<P4Json> GetItems(size_t count) const;
    /// Names and values of all members of an object.
    std::vector<std::pair<std::string, P4Json>> GetMembers() const;

    bool IsArray() const
    {
        return m_value->is_array();
    }

    bool IsText() const
    {
        return m_value->is_string();
    }

    bool IsNumber() const
    {
        return m_value->is_number();
    }

    bool IsObject() const
    {
        return m_value->is_object();
    }

    std::string AsText() const;
    bool AsBool() const;
    /// The same, or 0 and 1, which p4c writes for the sign of a `bool`.
    bool AsFlag() const;
    /// A whole number from 0 to `largest`.
    uint32_t AsNumber(uint32_t largest = UINT32_MAX) const;
    /// The same. \param what it is, for the message
    uint32_t AsNumber(uint32_t largest, const std::string& what) const;

    const std::string& GetPath() const
    {
        return m_path;
    }

  private:
    P4Json(const nlohmann::json* value, std::string path);

    const nlohmann::json* m_value;
    std::string m_path;
};

/**
 * Parses with a bound on the depth, so that no file runs recursive code off the stack.
 * \throws P4Error that names the file
 */
nlohmann::json ParseP4Json(std::string_view text, const std::string& file);

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_JSON_H
