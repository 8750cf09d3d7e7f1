// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/attribute-type.h"

#include <sstream>
#include <string_view>

namespace ns3::gradsync
{

namespace
{

/// A text that names something, whose checker tells the names as those of enums do.
bool
ListsChoices(const AttributeChecker& checker)
{
    return checker.HasUnderlyingTypeInformation() &&
           checker.GetUnderlyingTypeInformation().find('|') != std::string::npos;
}

} // namespace

AttributeType
ClassifyAttribute(const AttributeChecker& checker)
{
    // Some checkers leave the namespace out.
    std::string name = checker.GetValueTypeName();
    name = name.starts_with("ns3::") ? name.substr(5) : name;
    // Newer ns-3 versions add a template argument to EnumValue.
    const auto is = [&name](std::string_view type) { return name.starts_with(type); };
    return is("BooleanValue")      ? AttributeType::Boolean
           : is("UintegerValue")   ? AttributeType::Unsigned
           : is("IntegerValue")    ? AttributeType::Integer
           : is("DoubleValue")     ? AttributeType::Double
           : is("TimeValue")       ? AttributeType::Time
           : is("DataRateValue")   ? AttributeType::Rate
           : is("QueueSizeValue")  ? AttributeType::QueueSize
           : is("EnumValue")       ? AttributeType::Enum
           : ListsChoices(checker) ? AttributeType::Enum
           : is("StringValue")     ? AttributeType::String
                                   : AttributeType::Unsupported;
}

bool
CountsBytes(const std::string& key)
{
    return key == "mtu" || key.ends_with("Bytes");
}

std::vector<std::string>
GetChoices(const AttributeChecker& checker)
{
    std::vector<std::string> names;
    std::istringstream stream(checker.GetUnderlyingTypeInformation());
    for (std::string name; std::getline(stream, name, '|');)
    {
        names.push_back(name);
    }
    return names;
}

} // namespace ns3::gradsync
