// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/checked-attributes.h"

#include "ns3/ns3-interfaces.h"
#include "ns3/string.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

/// Of the type and those that it is derived from.
std::vector<std::string>
ListAttributeNames(const TypeId& type)
{
    std::vector<std::string> names;
    for (TypeId current = type;; current = current.GetParent())
    {
        for (size_t i = 0; i < current.GetAttributeN(); ++i)
        {
            names.push_back(current.GetAttribute(i).name);
        }
        if (!current.HasParent() || current.GetParent() == current)
        {
            break;
        }
    }
    std::ranges::sort(names);
    return names;
}

/// What the user gave, where it is a text: other values need a checker of their own kind to show.
std::string
Show(const AttributeValue& value)
{
    const auto* text = dynamic_cast<const StringValue*>(&value);
    return text ? fmt::format("\"{}\"", text->Get()) : "this value";
}

} // namespace

CheckedAttributes::CheckedAttributes(const TypeId& type)
    : m_type(type)
{
}

void
CheckedAttributes::Set(const std::string& name, const AttributeValue& value)
{
    TypeId::AttributeInformation information;
    if (!m_type.LookupAttributeByName(name, &information))
    {
        throw std::invalid_argument(fmt::format("{} has no Attribute {} (it has: {})",
                                                m_type.GetName(),
                                                name,
                                                fmt::join(ListAttributeNames(m_type), ", ")));
    }
    if ((information.flags & TypeId::ATTR_SET) == 0)
    {
        throw std::invalid_argument(
            fmt::format("the Attribute {} of {} cannot be set", name, m_type.GetName()));
    }
    const Ptr<const AttributeValue> valid = CreateCheckedValue(*information.checker, value);
    if (!valid)
    {
        throw std::invalid_argument(
            fmt::format("the Attribute {} of {} cannot be {} (it is a {}{}): {}",
                        name,
                        m_type.GetName(),
                        Show(value),
                        information.checker->GetValueTypeName(),
                        information.checker->HasUnderlyingTypeInformation()
                            ? " " + information.checker->GetUnderlyingTypeInformation()
                            : "",
                        information.help));
    }
    m_values.emplace_back(name, valid);
}

void
CheckedAttributes::Apply(ObjectBase& object) const
{
    for (const auto& [name, value] : m_values)
    {
        object.SetAttribute(name, *value);
    }
}

bool
CheckedAttributes::Has(const std::string& name) const
{
    return std::ranges::find(m_values, name, [](const auto& value) { return value.first; }) !=
           m_values.end();
}

} // namespace ns3::gradsync
