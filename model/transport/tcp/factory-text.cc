// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/factory-text.h"

#include "ns3/ns3-interfaces.h"
#include "ns3/regular-expression.h"
#include "ns3/string.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-cubic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

/// ns-3.37 declares TcpCubic a child of TcpSocketBase, which it is not.
bool
IsKindOf(const TypeId& type, const TypeId& parent)
{
    return type.IsChildOf(parent) ||
           (parent == TcpCongestionOps::GetTypeId() && type == TcpCubic::GetTypeId());
}

std::set<std::string>
ListTypes(const TypeId& parent)
{
    std::set<std::string> names;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const auto type = TypeId::GetRegistered(i);
        if (IsKindOf(type, parent) && type != parent && type.HasConstructor())
        {
            names.insert(type.GetName());
        }
    }
    return names;
}

/// Whether ns-3 can read the text as a value of that type; it aborts the program when it cannot.
bool
IsReadable(std::string type, const std::string& text)
{
    static const std::map<std::string, std::string> forms{
        {"BooleanValue", "true|false|0|1"},
        {"UintegerValue", "[0-9]{1,18}"},
        {"IntegerValue", "-?[0-9]{1,18}"},
        {"DoubleValue", "-?[0-9]+(\\.[0-9]*)?(e[-+]?[0-9]{1,2})?"},
        {"TimeValue", "[0-9]{1,9}(\\.[0-9]+)?(s|ms|us|ns|ps)"},
        {"DataRateValue", "[0-9]{1,9}(\\.[0-9]+)?[kMG]?bps"},
        {"QueueSizeValue", "[0-9]{1,9}(p|B|kB|KiB|MB|MiB)"},
        {"EnumValue", "[A-Za-z0-9_]+"}};
    type = type.starts_with("ns3::") ? type.substr(5) : type;
    const auto form = forms.find(type.substr(0, type.find('<')));
    return form != forms.end() && FitsWhole(form->second, text);
}

void
SetAttribute(ObjectFactory& factory, const std::string& assignment)
{
    const auto type = factory.GetTypeId();
    const auto equals = assignment.find('=');
    const auto name = assignment.substr(0, equals);
    TypeId::AttributeInformation attribute;
    if (equals == std::string::npos || !type.LookupAttributeByName(name, &attribute))
    {
        throw std::invalid_argument(
            fmt::format("{} has no Attribute \"{}\"", type.GetName(), name));
    }
    const StringValue value(assignment.substr(equals + 1));
    if (!IsReadable(attribute.checker->GetValueTypeName(), value.Get()) ||
        !CreateCheckedValue(*attribute.checker, value))
    {
        throw std::invalid_argument(fmt::format("{}::{} cannot be \"{}\": {}",
                                                type.GetName(),
                                                name,
                                                value.Get(),
                                                attribute.help));
    }
    factory.Set(name, value);
}

} // namespace

TypeId
ParseType(const std::string& name, const TypeId& parent)
{
    const auto full = name.starts_with("ns3::") ? name : "ns3::" + name;
    const auto known = ListTypes(parent);
    if (!known.contains(full))
    {
        throw std::invalid_argument(
            fmt::format("there is no {} \"{}\"; there are {}",
                        parent.GetName().substr(parent.GetName().rfind(':') + 1),
                        name,
                        fmt::join(known, ", ")));
    }
    return TypeId::LookupByName(full);
}

ObjectFactory
ParseFactory(const std::string& text, const TypeId& parent)
{
    const auto bracket = text.find('[');
    ObjectFactory factory;
    factory.SetTypeId(ParseType(text.substr(0, bracket), parent));
    if (bracket == std::string::npos)
    {
        return factory;
    }
    if (!text.ends_with(']'))
    {
        throw std::invalid_argument(fmt::format("\"{}\" lacks the closing ]", text));
    }
    std::istringstream assignments(text.substr(bracket + 1, text.size() - bracket - 2));
    for (std::string assignment; std::getline(assignments, assignment, '|');)
    {
        SetAttribute(factory, assignment);
    }
    return factory;
}

} // namespace ns3::gradsync
