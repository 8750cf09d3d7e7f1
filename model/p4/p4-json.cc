// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-json.h"

#include "ns3/p4-error.h"

#include <fmt/format.h>

namespace ns3::gradsync
{

namespace
{

constexpr int MAX_DEPTH = 512;

} // namespace

nlohmann::json
ParseP4Json(std::string_view text, const std::string& file)
{
    const auto bounded = [&file](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        if (depth > MAX_DEPTH)
        {
            throw P4Error(file, "the JSON is nested too deeply");
        }
        return true;
    };
    try
    {
        return nlohmann::json::parse(text, bounded);
    }
    catch (const nlohmann::json::exception& error)
    {
        throw P4Error(file, fmt::format("this is not JSON: {}", error.what()));
    }
}

P4Json::P4Json(const nlohmann::json& value, std::string file)
    : P4Json(&value, std::move(file))
{
}

P4Json::P4Json(const nlohmann::json* value, std::string path)
    : m_value(value),
      m_path(std::move(path))
{
}

void
P4Json::Fail(const std::string& problem) const
{
    throw P4Error(m_path, problem);
}

P4Json
P4Json::Get(const std::string& key) const
{
    if (!m_value->is_object())
    {
        Fail(fmt::format("an object with \"{}\" is expected, this is {}",
                         key,
                         m_value->type_name()));
    }
    const auto found = m_value->find(key);
    if (found == m_value->end())
    {
        Fail(fmt::format("\"{}\" is missing", key));
    }
    return {&*found, m_path + "." + key};
}

std::optional<P4Json>
P4Json::Find(const std::string& key) const
{
    if (!m_value->is_object() || !m_value->contains(key) || m_value->at(key).is_null())
    {
        return std::nullopt;
    }
    return Get(key);
}

std::vector<P4Json>
P4Json::GetItems() const
{
    if (!m_value->is_array())
    {
        Fail(fmt::format("an array is expected, this is {}", m_value->type_name()));
    }
    std::vector<P4Json> items;
    items.reserve(m_value->size());
    for (size_t i = 0; i < m_value->size(); ++i)
    {
        items.push_back(P4Json(&(*m_value)[i], fmt::format("{}[{}]", m_path, i)));
    }
    return items;
}

std::vector<P4Json>
P4Json::GetItems(size_t count) const
{
    auto items = GetItems();
    if (items.size() != count)
    {
        Fail(fmt::format("{} items are expected, there are {}", count, items.size()));
    }
    return items;
}

std::vector<std::pair<std::string, P4Json>>
P4Json::GetMembers() const
{
    if (!m_value->is_object())
    {
        Fail(fmt::format("an object is expected, this is {}", m_value->type_name()));
    }
    std::vector<std::pair<std::string, P4Json>> members;
    members.reserve(m_value->size());
    for (const auto& [key, value] : m_value->items())
    {
        members.emplace_back(key, P4Json(&value, m_path + "." + key));
    }
    return members;
}

std::string
P4Json::AsText() const
{
    if (!m_value->is_string())
    {
        Fail(fmt::format("a text is expected, this is {}", m_value->type_name()));
    }
    return m_value->get<std::string>();
}

bool
P4Json::AsBool() const
{
    if (!m_value->is_boolean())
    {
        Fail(fmt::format("true or false is expected, this is {}", m_value->type_name()));
    }
    return m_value->get<bool>();
}

bool
P4Json::AsFlag() const
{
    return m_value->is_number_unsigned() ? AsNumber(1) != 0 : AsBool();
}

uint32_t
P4Json::AsNumber(uint32_t largest) const
{
    return AsNumber(largest, "");
}

uint32_t
P4Json::AsNumber(uint32_t largest, const std::string& what) const
{
    if (!m_value->is_number_unsigned() || m_value->get<uint64_t>() > largest)
    {
        Fail(fmt::format("{}a whole number up to {} is expected",
                         what.empty() ? "" : what + ": ",
                         largest));
    }
    return static_cast<uint32_t>(m_value->get<uint64_t>());
}

} // namespace ns3::gradsync
