// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/attribute-reader.h"
#include "ns3/attribute-type.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/integer.h"
#include "ns3/uinteger.h"

#include <charconv>
#include <limits>
#include <string_view>

namespace ns3::gradsync
{

namespace
{

template <typename Value>
auto
GetInitial(const TypeId::AttributeInformation& information)
{
    return dynamic_cast<const Value&>(*information.initialValue).Get();
}

ParameterValue
GetDefault(const AttributeEntry& entry)
{
    const auto& information = entry.information;
    switch (ClassifyAttribute(*information.checker))
    {
    case AttributeType::Boolean:
        return GetInitial<BooleanValue>(information);
    case AttributeType::Unsigned: {
        const auto number = GetInitial<UintegerValue>(information);
        return CountsBytes(entry.key) ? ParameterValue(ByteCount{number})
                                      : ParameterValue(static_cast<int64_t>(number));
    }
    case AttributeType::Integer:
        return GetInitial<IntegerValue>(information);
    case AttributeType::Double:
        return GetInitial<DoubleValue>(information);
    case AttributeType::Time:
        return GetInitial<TimeValue>(information);
    case AttributeType::Rate:
        return GetInitial<DataRateValue>(information);
    case AttributeType::QueueSize:
    case AttributeType::Enum:
    case AttributeType::String:
    case AttributeType::Unsupported:
        break;
    }
    return information.initialValue->SerializeToString(information.checker);
}

/// One end of a range, where it is one that a double can tell; else there is none.
void
SetBound(std::string_view text, double& bound)
{
    // ns-3 prints six digits: those of the largest double, which is no bound, too.
    constexpr double LARGEST = 9e18;
    double number = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && number > -LARGEST &&
        number < LARGEST)
    {
        bound = number;
    }
}

/// ns-3 tells the range of a number in words only: "uint32_t 1:65536".
void
SetRange(const AttributeChecker& checker, ParameterSpec& spec)
{
    const bool isNumber = std::holds_alternative<int64_t>(spec.defaultValue) ||
                          std::holds_alternative<double>(spec.defaultValue);
    if (!isNumber || !checker.HasUnderlyingTypeInformation())
    {
        return;
    }
    const std::string text = checker.GetUnderlyingTypeInformation();
    const auto blank = text.find(' ');
    const auto colon = text.find(':');
    if (blank == std::string::npos || colon == std::string::npos || colon < blank)
    {
        return;
    }
    SetBound(std::string_view(text).substr(blank + 1, colon - blank - 1), spec.minimum);
    SetBound(std::string_view(text).substr(colon + 1), spec.maximum);
}

} // namespace

std::vector<ParameterSpec>
DescribeAttributes(const TypeId& type)
{
    std::vector<ParameterSpec> specs;
    for (const auto& entry : ListAttributes(type))
    {
        const auto& checker = *entry.information.checker;
        ParameterSpec spec{entry.key, GetDefault(entry), entry.information.help};
        if (ClassifyAttribute(checker) == AttributeType::Enum)
        {
            spec.allowed = GetChoices(checker);
        }
        SetRange(checker, spec);
        specs.push_back(std::move(spec));
    }
    return specs;
}

} // namespace ns3::gradsync
