// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/json-value.h"

#include "ns3/nearest-name.h"
#include "ns3/scenario-error.h"
#include "ns3/units.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Runs a unit parser on the text of a value and places its message.
template <typename Parser>
auto
ParseUnit(const JsonValue& value, Parser parse, const std::string& expected)
{
    if (!value.IsString())
    {
        value.Fail(expected);
    }
    try
    {
        return parse(value.Get().get_ref<const std::string&>());
    }
    catch (const std::invalid_argument& error)
    {
        value.FailWith(error.what());
    }
}

bool
HasControl(const std::string& text)
{
    return std::any_of(text.begin(), text.end(), [](char letter) {
        return static_cast<unsigned char>(letter) < ' ' || letter == '\x7f';
    });
}

std::string
Range(const std::string& minimum, const std::string& maximum, bool bounded)
{
    return bounded ? fmt::format("from {} to {}", minimum, maximum)
                   : fmt::format("of at least {}", minimum);
}

} // namespace

std::string
JoinPath(const std::string& parent, const std::string& child)
{
    return parent.empty() || child.empty() ? parent + child : parent + "." + child;
}

std::string
ShowJson(const Json& value)
{
    constexpr size_t LONGEST = 60;
    if (value.is_structured() && value.size() > LONGEST)
    {
        return fmt::format("{} of {} members",
                           value.is_array() ? "a list" : "an object",
                           value.size());
    }
    // ASCII only: escapes keep a foreign text from garbling a terminal.
    std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > LONGEST)
    {
        text = text.substr(0, LONGEST) + "...";
    }
    return text;
}

JsonValue::JsonValue(const Json& value, std::string file, std::string path)
    : m_value(&value),
      m_file(std::move(file)),
      m_path(std::move(path))
{
}

void
JsonValue::FailWith(const std::string& problem) const
{
    throw ScenarioError(m_path.empty() ? m_file : m_file + ": " + m_path, problem);
}

void
JsonValue::Fail(const std::string& expected) const
{
    FailWith(fmt::format("found {}, expected {}", ShowJson(*m_value), expected));
}

void
JsonValue::CheckKeys(const std::vector<std::string>& allowed) const
{
    if (!IsObject())
    {
        Fail("an object with the keys " + JoinNames(allowed));
    }
    for (const auto& [key, member] : m_value->items())
    {
        if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
        {
            FailWith(fmt::format("unknown key {}{} (allowed here: {})",
                                 ShowJson(key),
                                 SuggestName(key, allowed),
                                 JoinNames(allowed)));
        }
    }
}

std::optional<JsonValue>
JsonValue::Find(const std::string& key) const
{
    if (!IsObject())
    {
        Fail("an object");
    }
    const auto member = m_value->find(key);
    if (member == m_value->end())
    {
        return std::nullopt;
    }
    return JsonValue(*member, m_file, JoinPath(m_path, key));
}

JsonValue
JsonValue::Require(const std::string& key, const std::string& example) const
{
    auto member = Find(key);
    if (!member)
    {
        FailWith(
            fmt::format("\"{}\" is missing, expected for example \"{}\": {}", key, key, example));
    }
    return *member;
}

std::vector<JsonValue>
JsonValue::GetItems() const
{
    if (!IsArray())
    {
        Fail("a list");
    }
    std::vector<JsonValue> items;
    items.reserve(m_value->size());
    for (size_t i = 0; i < m_value->size(); ++i)
    {
        items.emplace_back((*m_value)[i], m_file, JoinPath(m_path, std::to_string(i)));
    }
    return items;
}

bool
JsonValue::AsBool() const
{
    if (!m_value->is_boolean())
    {
        Fail("true or false");
    }
    return m_value->get<bool>();
}

std::string
JsonValue::AsString(const std::string& what) const
{
    if (!IsString())
    {
        Fail(what + " (a string)");
    }
    return m_value->get<std::string>();
}

std::string
JsonValue::AsChoice(const std::vector<std::string>& allowed) const
{
    if (!IsString())
    {
        Fail("one of: " + JoinNames(allowed));
    }
    auto choice = m_value->get<std::string>();
    if (std::find(allowed.begin(), allowed.end(), choice) == allowed.end())
    {
        FailWith(fmt::format("found {}{} (allowed: {})",
                             ShowJson(*m_value),
                             SuggestName(choice, allowed),
                             JoinNames(allowed)));
    }
    return choice;
}

std::string
JsonValue::AsName() const
{
    if (!IsString() || m_value->get_ref<const std::string&>().empty() ||
        HasControl(m_value->get_ref<const std::string&>()))
    {
        Fail("a name: a string that is not empty and has no control characters");
    }
    return m_value->get<std::string>();
}

std::string
JsonValue::AsPath() const
{
    return (std::filesystem::path(GetFile()).parent_path() / AsName()).string();
}

uint64_t
JsonValue::AsUnsigned(uint64_t minimum, uint64_t maximum) const
{
    // A non-negative integer is always stored unsigned.
    if (!m_value->is_number_unsigned() || m_value->get<uint64_t>() < minimum ||
        m_value->get<uint64_t>() > maximum)
    {
        const bool bounded = maximum < std::numeric_limits<int64_t>::max();
        Fail("a whole number " + Range(std::to_string(minimum), std::to_string(maximum), bounded));
    }
    return m_value->get<uint64_t>();
}

int64_t
JsonValue::AsInteger(int64_t minimum, int64_t maximum) const
{
    const bool fits =
        m_value->is_number_integer() &&
        (!m_value->is_number_unsigned() ||
         m_value->get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
    if (!fits || m_value->get<int64_t>() < minimum || m_value->get<int64_t>() > maximum)
    {
        const bool bounded = maximum < std::numeric_limits<int64_t>::max();
        Fail("a whole number " + Range(std::to_string(minimum), std::to_string(maximum), bounded));
    }
    return m_value->get<int64_t>();
}

double
JsonValue::AsNumber(double minimum, double maximum) const
{
    const double number = m_value->is_number() ? m_value->get<double>() : std::nan("");
    // Written so that a NaN fails.
    if (!(number >= minimum && number <= maximum))
    {
        const bool bounded = std::isfinite(maximum);
        Fail(std::isfinite(minimum)
                 ? "a number " +
                       Range(fmt::format("{}", minimum), fmt::format("{}", maximum), bounded)
                 : std::string("a number"));
    }
    return number;
}

DataRate
JsonValue::AsRate(uint64_t minimum) const
{
    const auto rate = ParseUnit(*this, ParseRate, "a rate such as \"40Gbps\"");
    if (rate.GetBitRate() < minimum)
    {
        Fail(fmt::format("a rate of {} at least", FormatRate(DataRate(minimum))));
    }
    return rate;
}

Time
JsonValue::AsTime(const Time& maximum) const
{
    const auto time = ParseUnit(*this, ParseTime, "a time such as \"1us\"");
    if (time > maximum)
    {
        Fail(fmt::format("a time of {} at most", FormatTime(maximum)));
    }
    return time;
}

uint64_t
JsonValue::AsBytes(uint64_t minimum, uint64_t maximum) const
{
    const uint64_t bytes = ParseUnit(*this, ParseBytes, "a size such as \"97MiB\"");
    if (bytes < minimum || bytes > maximum)
    {
        Fail("a size " +
             Range(fmt::format("{}B", minimum),
                   fmt::format("{}B", maximum),
                   maximum < static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
    }
    return bytes;
}

} // namespace ns3::gradsync
