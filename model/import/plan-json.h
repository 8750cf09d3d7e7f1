// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLAN_JSON_H
#define GRADSYNC_PLAN_JSON_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

using PlanJsonText = nlohmann::json;

/**
 * A value in the JSON of a plan, which knows where it is: every error names file and path, what was
 * found and what is allowed. The view must not outlive the value, nor the view that it was asked
 * of: a plan of millions of operations has no path of its own for each of their values.
 */
class PlanJson
{
  public:
    /// The whole of a file.
    PlanJson(const std::string& file, const PlanJsonText& value)
        : PlanJson(value, nullptr, {}, 0)
    {
        m_file = &file;
    }

    const PlanJsonText& Get() const
    {
        return *m_value;
    }

    /// A value in this list. \param value of which it is the view
    PlanJson At(size_t index, const PlanJsonText& value) const
    {
        return {value, this, {}, index};
    }

    /// A value under a key of this object. \param key must outlive the view
    PlanJson In(std::string_view key, const PlanJsonText& value) const
    {
        return {value, this, key, 0};
    }

    /// \throws ImportError when this is no object, or has another key; names the nearest
    void CheckKeys(const std::vector<std::string>& allowed) const;

    std::optional<PlanJson> Find(std::string_view key) const;
    /// \throws ImportError when it is missing \param example what to write
    PlanJson Require(std::string_view key, std::string_view example) const;

    /// \throws ImportError when it is no whole number in the range
    uint64_t AsUnsigned(uint64_t minimum, uint64_t maximum) const;
    double AsNumber(double minimum, double maximum) const;
    bool AsBool() const;
    std::string AsText() const;
    /// \returns the number of the text in the list \throws ImportError with the nearest
    size_t AsChoice(const std::vector<std::string>& allowed) const;

    /// Calls for each item of a list. \throws ImportError when it is none, or a longer one
    void ForEachItem(size_t maximum, const std::function<void(const PlanJson&)>& take) const;

    /// "found X, expected Y". \throws ImportError
    [[noreturn]] void Fail(const std::string& expected) const;
    /// \throws ImportError with file and path before the text
    [[noreturn]] void FailWith(const std::string& problem) const;

  private:
    PlanJson(const PlanJsonText& value, const PlanJson* parent, std::string_view key, size_t index)
        : m_value(&value),
          m_file(parent == nullptr ? nullptr : parent->m_file),
          m_parent(parent),
          m_key(key),
          m_index(index)
    {
    }

    std::string GetPath() const;

    const PlanJsonText* m_value;
    const std::string* m_file;
    const PlanJson* m_parent;
    std::string_view m_key; //!< in an object; empty in a list
    size_t m_index;         //!< in a list
};

/**
 * Parses strictly: no duplicate keys, bounded depth.
 * \param file for messages \param stream the list of the root whose objects are not kept but handed
 * on, one by one, with their number \param take gets them as they come
 * \returns the root, without them
 * \throws ImportError with line and column
 */
PlanJsonText ParsePlanJson(const std::string& file,
                           std::string_view text,
                           const std::string& stream,
                           const std::function<void(size_t, const PlanJsonText&)>& take);

} // namespace ns3::gradsync

#endif // GRADSYNC_PLAN_JSON_H
