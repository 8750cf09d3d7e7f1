// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NS3_INTERFACES_H
#define GRADSYNC_NS3_INTERFACES_H

#include "ns3/attribute.h"
#include "ns3/enum.h"
#include "ns3/event-id.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/nstime.h"
#include "ns3/simulator-impl.h"
#include "ns3/string.h"

#include <string>
#include <tuple>
#include <utility>

/**
 * \file
 * Where releases of ns-3 differ, from 3.37 on: what this one has is read from its own types, so
 * that one source compiles with all of them.
 */

namespace ns3::gradsync
{

/// Accessor of an attribute that is an enumeration. From ns-3.41 on its type is to be named.
template <typename Class, typename Enum>
Ptr<const AttributeAccessor>
MakeAccessorOfEnum(Enum Class::*member)
{
    if constexpr (requires { MakeEnumAccessor<Enum>(member); })
    {
        return MakeEnumAccessor<Enum>(member);
    }
    else
    {
        return MakeEnumAccessor(member);
    }
}

/// What an Attribute takes for a value that a user gave; null where it takes none. From ns-3.39 on,
/// a text that names no enumerator ends the program where assertions are on and is undefined where
/// they are not.
inline Ptr<AttributeValue>
CreateCheckedValue(const AttributeChecker& checker, const AttributeValue& value)
{
    const auto* text = dynamic_cast<const StringValue*>(&value);
    // EnumValue, with a template argument from ns-3.41 on, and maybe without its namespace.
    if (text && checker.GetValueTypeName().find("EnumValue") != std::string::npos)
    {
        const auto names = "|" + checker.GetUnderlyingTypeInformation() + "|";
        const auto& name = text->Get();
        if (name.find('|') != std::string::npos ||
            names.find("|" + name + "|") == std::string::npos)
        {
            return nullptr;
        }
    }
    return checker.CreateValidValue(value);
}

/// Whether the event is still to come. EventId::IsRunning is gone from ns-3.46 on.
inline bool
IsDue(const EventId& event)
{
    return !event.IsExpired();
}

/// What SimulatorImpl::Stop(delay) gives: the event, in newer releases, or nothing.
using StopResult = decltype(std::declval<SimulatorImpl&>().Stop(std::declval<const Time&>()));

/// The types of the parameters of a method.
template <typename Method>
struct ParametersOf;

template <typename Result, typename Class, typename... Parameters>
struct ParametersOf<Result (Class::*)(Parameters...)>
{
    using Types = std::tuple<Parameters...>;
};

/// Of Ipv4RoutingProtocol::RouteInput: callbacks are references from ns-3.39 on.
template <size_t Index>
using RouteInputParameter =
    std::tuple_element_t<Index, ParametersOf<decltype(&Ipv4RoutingProtocol::RouteInput)>::Types>;

} // namespace ns3::gradsync

#endif // GRADSYNC_NS3_INTERFACES_H
