// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_JSON_VALUE_H
#define GRADSYNC_JSON_VALUE_H

#include "ns3/data-rate.h"
#include "ns3/json-document.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// Joins two parts of a dotted JSON path; either may be empty.
std::string JoinPath(const std::string& parent, const std::string& child);

/// A JSON value as messages show it: on one line, printable, at most 60 characters.
std::string ShowJson(const Json& value);

/**
 * A view of a JSON value that knows where it is, so that every error names file and path.
 *
 * All readers throw ScenarioError when the value does not fit. The document must outlive the view.
 */
class JsonValue
{
  public:
    JsonValue(const Json& value, std::string file, std::string path);

    const Json& Get() const
    {
        return *m_value;
    }

    const std::string& GetPath() const
    {
        return m_path;
    }

    const std::string& GetFile() const
    {
        return m_file;
    }

    bool IsObject() const
    {
        return m_value->is_object();
    }

    bool IsArray() const
    {
        return m_value->is_array();
    }

    bool IsString() const
    {
        return m_value->is_string();
    }

    /// Error for a value that is not what is expected: found X, expected Y.
    [[noreturn]] void Fail(const std::string& expected) const;
    /// Error with free text about this value.
    [[noreturn]] void FailWith(const std::string& problem) const;

    /// Checks that this is an object with no key but these; names the nearest for one that is not.
    void CheckKeys(const std::vector<std::string>& allowed) const;

    /// The member, or nothing. \throws ScenarioError when this is no object
    std::optional<JsonValue> Find(const std::string& key) const;
    /// The member. \throws ScenarioError when it is missing; `example` shows what to write
    JsonValue Require(const std::string& key, const std::string& example) const;
    /// Members of an array.
    std::vector<JsonValue> GetItems() const;

    bool AsBool() const;
    /// \param what name for messages, as "a title"
    std::string AsString(const std::string& what) const;
    /// A string that is one of a list.
    std::string AsChoice(const std::vector<std::string>& allowed) const;
    /// A name: not empty, no control characters, so that it fits in one CSV field.
    std::string AsName() const;

    /// The path that a name stands for, from the folder of the file.
    std::string AsPath() const;
    uint64_t AsUnsigned(uint64_t minimum, uint64_t maximum) const;
    int64_t AsInteger(int64_t minimum, int64_t maximum) const;
    double AsNumber(double minimum, double maximum) const;
    /// \param minimum bits per second
    DataRate AsRate(uint64_t minimum = 1) const;
    Time AsTime(const Time& maximum = Time::Max()) const;
    uint64_t AsBytes(uint64_t minimum,
                     uint64_t maximum = std::numeric_limits<int64_t>::max()) const;

  private:
    const Json* m_value;
    std::string m_file;
    std::string m_path; //!< dotted; empty at the root
};

} // namespace ns3::gradsync

#endif // GRADSYNC_JSON_VALUE_H
