// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-json.h"

#include "ns3/import-error.h"
#include "ns3/nearest-name.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace ns3::gradsync
{

namespace
{

/// A gate's answers are four levels below the root.
constexpr int MAX_PLAN_DEPTH = 8;

std::string
ShowValue(const PlanJsonText& value)
{
    constexpr size_t MAX_LETTERS = 60;
    // A list of millions is not written out for the beginning of it.
    if (value.is_structured() && value.size() > MAX_LETTERS)
    {
        return fmt::format("{} of {}", value.is_array() ? "a list" : "an object", value.size());
    }
    auto text = value.dump(-1, ' ', true, PlanJsonText::error_handler_t::replace);
    return text.size() > MAX_LETTERS ? text.substr(0, MAX_LETTERS - 3) + "..." : text;
}

/// Keeps what parsing lets pass out of a document, and its operations out of the memory.
class PlanJsonParser
{
  public:
    PlanJsonParser(const std::string& file,
                   const std::string& stream,
                   const std::function<void(size_t, const PlanJsonText&)>& take)
        : m_file(file),
          m_stream(stream),
          m_take(take)
    {
    }

    /// nlohmann's callback. \returns whether to keep the value
    bool Handle(int depth, PlanJsonText::parse_event_t event, const PlanJsonText& value)
    {
        using Event = PlanJsonText::parse_event_t;
        if (depth > MAX_PLAN_DEPTH)
        {
            throw ImportError(
                fmt::format("{}: nested deeper than {} levels", m_file, MAX_PLAN_DEPTH));
        }
        if (event == Event::object_start)
        {
            m_names.emplace_back();
        }
        else if (event == Event::key)
        {
            AddKey(depth, value.get_ref<const std::string&>());
        }
        else if (event == Event::object_end)
        {
            m_names.pop_back();
            if (depth == STREAMED_DEPTH && m_section == m_stream)
            {
                m_take(m_count++, value);
                return false;
            }
        }
        return true;
    }

  private:
    /// Of the root's list: the root is 0 deep.
    static constexpr int STREAMED_DEPTH = 2;

    void AddKey(int depth, const std::string& key)
    {
        if (depth == 1)
        {
            m_section = key;
        }
        if (!m_names.back().insert(key).second)
        {
            auto where = depth == 1 ? "" : " in " + m_section;
            where += depth > 1 && m_section == m_stream ? fmt::format(".{}", m_count) : "";
            throw ImportError(fmt::format("{}: duplicate key {}{}", m_file, QuoteName(key), where));
        }
    }

    const std::string& m_file;
    const std::string& m_stream;
    const std::function<void(size_t, const PlanJsonText&)>& m_take;
    std::vector<std::set<std::string>> m_names; //!< of the objects that are open
    std::string m_section;                      //!< key of the root
    size_t m_count{0};
};

} // namespace

std::string
PlanJson::GetPath() const
{
    if (m_parent == nullptr)
    {
        return "";
    }
    const auto parent = m_parent->GetPath();
    const auto own = m_key.empty() ? std::to_string(m_index) : std::string(m_key);
    return parent.empty() ? own : fmt::format("{}.{}", parent, own);
}

void
PlanJson::FailWith(const std::string& problem) const
{
    const auto path = GetPath();
    throw ImportError(path.empty() ? fmt::format("{}: {}", *m_file, problem)
                                   : fmt::format("{}: {}: {}", *m_file, path, problem));
}

void
PlanJson::Fail(const std::string& expected) const
{
    FailWith(fmt::format("found {}, expected {}", ShowValue(*m_value), expected));
}

void
PlanJson::CheckKeys(const std::vector<std::string>& allowed) const
{
    if (!m_value->is_object())
    {
        Fail("an object");
    }
    for (const auto& [key, value] : m_value->items())
    {
        if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
        {
            FailWith(fmt::format("found the key {}{} (allowed: {})",
                                 QuoteName(key),
                                 SuggestName(key, allowed),
                                 JoinNames(allowed)));
        }
    }
}

std::optional<PlanJson>
PlanJson::Find(std::string_view key) const
{
    const auto found = m_value->is_object() ? m_value->find(key) : m_value->end();
    return !m_value->is_object() || found == m_value->end()
               ? std::nullopt
               : std::optional(PlanJson(*found, this, key, 0));
}

PlanJson
PlanJson::Require(std::string_view key, std::string_view example) const
{
    const auto found = Find(key);
    if (!found)
    {
        FailWith(fmt::format("\"{}\" is missing, expected {}", key, example));
    }
    return *found;
}

uint64_t
PlanJson::AsUnsigned(uint64_t minimum, uint64_t maximum) const
{
    const bool isWhole = m_value->is_number_unsigned();
    const auto number = isWhole ? m_value->get<uint64_t>() : 0;
    if (!isWhole || number < minimum || number > maximum)
    {
        Fail(fmt::format("a whole number from {} to {}", minimum, maximum));
    }
    return number;
}

double
PlanJson::AsNumber(double minimum, double maximum) const
{
    const auto number = m_value->is_number() ? m_value->get<double>() : minimum - 1;
    if (!(number >= minimum && number <= maximum))
    {
        Fail(fmt::format("a number from {} to {}", minimum, maximum));
    }
    return number;
}

bool
PlanJson::AsBool() const
{
    if (!m_value->is_boolean())
    {
        Fail("true or false");
    }
    return m_value->get<bool>();
}

std::string
PlanJson::AsText() const
{
    if (!m_value->is_string())
    {
        Fail("a text");
    }
    return m_value->get<std::string>();
}

size_t
PlanJson::AsChoice(const std::vector<std::string>& allowed) const
{
    const auto name = AsText();
    const auto found = std::find(allowed.begin(), allowed.end(), name);
    if (found == allowed.end())
    {
        FailWith(fmt::format("found {}{} (allowed: {})",
                             QuoteName(name),
                             SuggestName(name, allowed),
                             JoinNames(allowed)));
    }
    return static_cast<size_t>(found - allowed.begin());
}

void
PlanJson::ForEachItem(size_t maximum, const std::function<void(const PlanJson&)>& take) const
{
    if (!m_value->is_array() || m_value->size() > maximum)
    {
        Fail(fmt::format("a list of at most {}", maximum));
    }
    for (size_t i = 0; i < m_value->size(); ++i)
    {
        take(At(i, (*m_value)[i]));
    }
}

PlanJsonText
ParsePlanJson(const std::string& file,
              std::string_view text,
              const std::string& stream,
              const std::function<void(size_t, const PlanJsonText&)>& take)
{
    PlanJsonParser parser(file, stream, take);
    try
    {
        return PlanJsonText::parse(
            text.begin(),
            text.end(),
            [&parser](int depth, PlanJsonText::parse_event_t event, PlanJsonText& value) {
                return parser.Handle(depth, event, value);
            });
    }
    catch (const PlanJsonText::exception& error)
    {
        // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
        const std::string_view what = error.what();
        const auto start = what.find("] ");
        throw ImportError(
            fmt::format("{}: {}",
                        file,
                        start == std::string_view::npos ? what : what.substr(start + 2)));
    }
}

} // namespace ns3::gradsync
