// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/attribute-reader.h"

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

enum class ValueType
{
    Unsupported,
    Boolean,
    Unsigned,
    Integer,
    Double,
    Time,
    Rate,
    QueueSize,
    Enum,
    String
};

/// A text that names something, whose checker tells the names as those of enums do.
bool
ListsChoices(const AttributeChecker& checker)
{
    return checker.HasUnderlyingTypeInformation() &&
           checker.GetUnderlyingTypeInformation().find('|') != std::string::npos;
}

ValueType
Classify(const AttributeChecker& checker)
{
    // Some checkers leave the namespace out.
    std::string name = checker.GetValueTypeName();
    name = name.starts_with("ns3::") ? name.substr(5) : name;
    // Newer ns-3 versions add a template argument to EnumValue.
    const auto is = [&name](std::string_view type) { return name.starts_with(type); };
    return is("BooleanValue")      ? ValueType::Boolean
           : is("UintegerValue")   ? ValueType::Unsigned
           : is("IntegerValue")    ? ValueType::Integer
           : is("DoubleValue")     ? ValueType::Double
           : is("TimeValue")       ? ValueType::Time
           : is("DataRateValue")   ? ValueType::Rate
           : is("QueueSizeValue")  ? ValueType::QueueSize
           : is("EnumValue")       ? ValueType::Enum
           : ListsChoices(checker) ? ValueType::Enum
           : is("StringValue")     ? ValueType::String
                                   : ValueType::Unsupported;
}

bool
CountsBytes(const std::string& key)
{
    return key == "mtu" || key.ends_with("Bytes");
}

std::vector<std::string>
SplitChoices(const std::string& choices)
{
    std::vector<std::string> names;
    std::istringstream stream(choices);
    for (std::string name; std::getline(stream, name, '|');)
    {
        names.push_back(name);
    }
    return names;
}

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
    switch (Classify(checker))
    {
    case ValueType::Boolean:
        return value.AsBool() ? "true" : "false";
    case ValueType::Unsigned:
        return std::to_string(CountsBytes(entry.key)
                                  ? value.AsBytes(0)
                                  : value.AsUnsigned(0, std::numeric_limits<uint64_t>::max()));
    case ValueType::Integer:
        return std::to_string(value.AsInteger(std::numeric_limits<int64_t>::min(),
                                              std::numeric_limits<int64_t>::max()));
    case ValueType::Double:
        return fmt::format("{}",
                           value.AsNumber(std::numeric_limits<double>::lowest(),
                                          std::numeric_limits<double>::max()));
    case ValueType::Time:
        return fmt::format("{}ps", value.AsTime(PicoSeconds(MAX_TIMER)).GetPicoSeconds());
    case ValueType::Rate:
        return fmt::format("{}bps", value.AsRate().GetBitRate());
    case ValueType::QueueSize:
        return ReadQueueSize(value);
    case ValueType::Enum:
        return value.AsChoice(SplitChoices(checker.GetUnderlyingTypeInformation()));
    case ValueType::String:
        return value.AsString("a text");
    case ValueType::Unsupported:
        break;
    }
    value.FailWith("cannot be set from a scenario");
}

std::string
ReadAttribute(const JsonValue& value, const AttributeEntry& entry)
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
            if (settable && Classify(*information.checker) != ValueType::Unsupported)
            {
                std::string key = information.name;
                key[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(key[0])));
                entries.push_back({key, information});
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

std::string
ShowDefault(const AttributeEntry& entry)
{
    const auto& information = entry.information;
    if (const auto* time = dynamic_cast<const TimeValue*>(PeekPointer(information.initialValue)))
    {
        // ns-3 itself prints picoseconds with six digits.
        return FormatTime(time->Get());
    }
    return information.initialValue->SerializeToString(information.checker) +
           (CountsBytes(entry.key) ? "B" : "");
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
                                  ReadAttribute(*object.Find(key), *entry));
        }
    }
    return settings;
}

std::pair<std::string, std::string>
ReadAttribute(const JsonValue& value, const TypeId& type, std::string_view key)
{
    const auto entries = ListAttributes(type);
    const auto entry = std::ranges::find(entries, key, &AttributeEntry::key);
    return {entry->information.name, ReadAttribute(value, *entry)};
}

} // namespace ns3::gradsync
