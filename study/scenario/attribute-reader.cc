// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/attribute-reader.h"

#include "ns3/attribute-type.h"
#include "ns3/queue-size.h"
#include "ns3/string.h"
#include "ns3/time-range.h"
#include "ns3/units.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <limits>
#include <sstream>
#include <string_view>

namespace ns3::gradsync
{

namespace
{

/// A queue size is packets ("100p") or bytes ("64KiB"); ns-3 aborts on what it cannot parse.
std::string
ReadQueueSize(const JsonValue& value)
{
    const std::string text = value.AsString("a queue size such as \"100p\" or \"64KiB\"");
    const std::string_view digits(text.data(), text.empty() ? 0 : text.size() - 1);
    const bool packets = text.ends_with('p') && !digits.empty() && digits.size() <= 9 &&
                         digits.find_first_not_of("0123456789") == std::string_view::npos;
    return packets ? text
                   : fmt::format("{}B", value.AsBytes(0, std::numeric_limits<uint32_t>::max()));
}

/// The value in the text form of the Attribute, its type checked but not yet its range.
std::string
ToText(const JsonValue& value, const AttributeEntry& entry)
{
    const AttributeChecker& checker = *entry.information.checker;
    switch (ClassifyAttribute(checker))
    {
    case AttributeType::Boolean:
        return value.AsBool() ? "true" : "false";
    case AttributeType::Unsigned:
        return std::to_string(CountsBytes(entry.key)
                                  ? value.AsBytes(0)
                                  : value.AsUnsigned(0, std::numeric_limits<uint64_t>::max()));
    case AttributeType::Integer:
        return std::to_string(value.AsInteger(std::numeric_limits<int64_t>::min(),
                                              std::numeric_limits<int64_t>::max()));
    case AttributeType::Double:
        return fmt::format("{}",
                           value.AsNumber(std::numeric_limits<double>::lowest(),
                                          std::numeric_limits<double>::max()));
    case AttributeType::Time:
        return fmt::format("{}ps", value.AsTime(PicoSeconds(MAX_TIMER)).GetPicoSeconds());
    case AttributeType::Rate:
        return fmt::format("{}bps", value.AsRate().GetBitRate());
    case AttributeType::QueueSize:
        return ReadQueueSize(value);
    case AttributeType::Enum:
        return value.AsChoice(GetChoices(checker));
    case AttributeType::String:
        return value.AsString("a text");
    case AttributeType::Unsupported:
        break;
    }
    value.FailWith("cannot be set from a scenario");
}

std::string
ReadEntryValue(const JsonValue& value, const AttributeEntry& entry)
{
    std::string text = ToText(value, entry);
    if (!entry.information.checker->CreateValidValue(StringValue(text)))
    {
        const std::string range = entry.information.checker->HasUnderlyingTypeInformation()
                                      ? entry.information.checker->GetUnderlyingTypeInformation()
                                      : entry.information.checker->GetValueTypeName();
        value.Fail(fmt::format("a value in the range of the Attribute {} ({}): {}",
                               entry.information.name,
                               range,
                               entry.information.help));
    }
    return text;
}

} // namespace

std::string
GetAttributeKey(std::string name)
{
    name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
    return name;
}

std::vector<AttributeEntry>
ListAttributes(const TypeId& type)
{
    std::vector<AttributeEntry> entries;
    for (TypeId current = type;; current = current.GetParent())
    {
        for (size_t i = 0; i < current.GetAttributeN(); ++i)
        {
            const auto information = current.GetAttribute(i);
            const bool settable =
                (information.flags & (TypeId::ATTR_SET | TypeId::ATTR_CONSTRUCT)) != 0;
            if (settable && ClassifyAttribute(*information.checker) != AttributeType::Unsupported)
            {
                entries.push_back({GetAttributeKey(information.name), information});
            }
        }
        if (!current.HasParent() || current.GetParent() == current)
        {
            break;
        }
    }
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return a.key < b.key;
    });
    return entries;
}

std::vector<std::string>
GetAttributeKeys(const TypeId& type)
{
    std::vector<std::string> keys;
    for (const auto& entry : ListAttributes(type))
    {
        keys.push_back(entry.key);
    }
    return keys;
}

AttributeSettings
ReadAttributes(const JsonValue& object, const TypeId& type, const std::vector<std::string>& ignored)
{
    const auto entries = ListAttributes(type);
    std::vector<std::string> allowed = ignored;
    for (const auto& entry : entries)
    {
        allowed.push_back(entry.key);
    }
    object.CheckKeys(allowed);
    AttributeSettings settings;
    for (const auto& [key, member] : object.Get().items())
    {
        const auto entry = std::find_if(entries.begin(),
                                        entries.end(),
                                        [&name = key](const auto& e) { return e.key == name; });
        if (entry != entries.end())
        {
            settings.emplace_back(entry->information.name,
                                  ReadEntryValue(*object.Find(key), *entry));
        }
    }
    return settings;
}

std::pair<std::string, std::string>
ReadAttribute(const JsonValue& value, const TypeId& type, std::string_view key)
{
    const auto entries = ListAttributes(type);
    const auto entry = std::ranges::find(entries, key, &AttributeEntry::key);
    return {entry->information.name, ReadEntryValue(value, *entry)};
}

} // namespace ns3::gradsync
