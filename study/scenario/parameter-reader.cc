// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/parameter-reader.h"

#include "ns3/document-path.h"
#include "ns3/parameter-text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <type_traits>

namespace ns3::gradsync
{

namespace
{

/// A bound as a whole number, infinite ones cut to what there is.
template <typename Integer>
Integer
ToBound(double bound)
{
    constexpr auto LEAST = std::numeric_limits<Integer>::min();
    constexpr auto MOST = std::numeric_limits<int64_t>::max();
    return bound >= 9.2e18                       ? static_cast<Integer>(MOST)
           : bound <= static_cast<double>(LEAST) ? LEAST
                                                 : static_cast<Integer>(bound);
}

/// JSON numbers are finite; so are parameters.
double
ToFinite(double bound)
{
    return std::isfinite(bound) ? bound : std::copysign(std::numeric_limits<double>::max(), bound);
}

Time
ReadTime(const JsonValue& value, const ParameterSpec& spec)
{
    auto time = std::isfinite(spec.maximum)
                    ? value.AsTime(PicoSeconds(static_cast<int64_t>(spec.maximum)))
                    : value.AsTime();
    if (spec.minimum > 0.0 && time.IsZero())
    {
        value.Fail("a time above 0");
    }
    return time;
}

std::string
ReadText(const JsonValue& value, const ParameterSpec& spec)
{
    return spec.isFile            ? value.AsPath()
           : spec.minimum > 0.0   ? value.AsName()
           : spec.allowed.empty() ? value.AsString(spec.help)
                                  : value.AsChoice(spec.allowed);
}

std::vector<double>
ReadNumbers(const JsonValue& value, const ParameterSpec& spec)
{
    std::vector<double> list;
    for (const auto& item : value.GetItems())
    {
        list.push_back(spec.isWhole
                           ? static_cast<double>(item.AsInteger(ToBound<int64_t>(spec.minimum),
                                                                ToBound<int64_t>(spec.maximum)))
                           : item.AsNumber(ToFinite(spec.minimum), ToFinite(spec.maximum)));
    }
    return list;
}

std::vector<ParameterSet>
ReadObjects(const JsonValue& value, const ParameterSpec& spec)
{
    if (!spec.isList)
    {
        return {ReadParameters(value, spec.members)};
    }
    std::vector<ParameterSet> objects;
    for (const auto& item : value.GetItems())
    {
        objects.push_back(ReadParameters(item, spec.members));
    }
    return objects;
}

ParameterValue
ReadAs(const JsonValue& value, const ParameterSpec& spec)
{
    return std::visit(
        [&value, &spec](const auto& standard) -> ParameterValue {
            using Type = std::decay_t<decltype(standard)>;
            if constexpr (std::is_same_v<Type, bool>)
            {
                return value.AsBool();
            }
            else if constexpr (std::is_same_v<Type, int64_t>)
            {
                return value.AsInteger(ToBound<int64_t>(spec.minimum),
                                       ToBound<int64_t>(spec.maximum));
            }
            else if constexpr (std::is_same_v<Type, double>)
            {
                return value.AsNumber(ToFinite(spec.minimum), ToFinite(spec.maximum));
            }
            else if constexpr (std::is_same_v<Type, Time>)
            {
                return ReadTime(value, spec);
            }
            else if constexpr (std::is_same_v<Type, DataRate>)
            {
                return value.AsRate(ToBound<uint64_t>(std::max(spec.minimum, 1.0)));
            }
            else if constexpr (std::is_same_v<Type, ByteCount>)
            {
                return ByteCount{value.AsBytes(ToBound<uint64_t>(spec.minimum),
                                               ToBound<uint64_t>(spec.maximum))};
            }
            else if constexpr (std::is_same_v<Type, std::string>)
            {
                return ReadText(value, spec);
            }
            else if constexpr (std::is_same_v<Type, std::vector<double>>)
            {
                return ReadNumbers(value, spec);
            }
            else if constexpr (std::is_same_v<Type, std::vector<ParameterSet>>)
            {
                return ReadObjects(value, spec);
            }
            else
            {
                // Whoever knows more reads it.
                return standard;
            }
        },
        spec.defaultValue);
}

/// Whether the JSON type of a value is that of a parameter. Times and sizes are strings.
bool
HasTypeOf(const Json& value, const ParameterSpec& spec)
{
    const auto& type = spec.defaultValue;
    return std::holds_alternative<bool>(type) ? value.is_boolean()
           : std::holds_alternative<int64_t>(type) || std::holds_alternative<double>(type)
               ? value.is_number()
           : std::holds_alternative<std::vector<double>>(type) ? value.is_array()
           : std::holds_alternative<std::vector<ParameterSet>>(type)
               ? spec.isList ? value.is_array() : value.is_object()
           : std::holds_alternative<SharedShape>(type) ? value.is_structured()
                                                       : value.is_string();
}

/// The form of a parameter that a value has; the first one where it has none.
const ParameterSpec&
FindForm(const JsonValue& value, const ParameterSpec& spec)
{
    std::vector<const ParameterSpec*> found;
    if (HasTypeOf(value.Get(), spec))
    {
        found.push_back(&spec);
    }
    for (const auto& form : spec.forms)
    {
        if (HasTypeOf(value.Get(), form))
        {
            found.push_back(&form);
        }
    }
    if (value.IsString())
    {
        // A quantity, or one of some words.
        const auto word = std::ranges::find_if(found, [&value](const auto* form) {
            return std::ranges::count(form->allowed, value.Get().get<std::string>()) > 0;
        });
        found = {word == found.end() ? found.empty() ? &spec : found[0] : *word};
    }
    if (found.size() < 2)
    {
        return found.empty() ? spec : *found[0];
    }
    const auto& tag = found[0]->members.at(0);
    std::vector<std::string> names;
    names.reserve(found.size());
    for (const auto* form : found)
    {
        names.push_back(form->members.at(0).allowed.at(0));
    }
    const auto name = value.Require(tag.name, ShowParameter(tag.defaultValue)).AsChoice(names);
    return *found[static_cast<size_t>(std::ranges::find(names, name) - names.begin())];
}

} // namespace

std::vector<std::string>
GetKeys(const std::vector<ParameterSpec>& specs, std::vector<std::string> others)
{
    for (const auto& spec : specs)
    {
        if (spec.renamedTo.empty())
        {
            others.push_back(spec.name);
        }
    }
    return others;
}

ParameterSet
ReadParameters(const JsonValue& object,
               const std::vector<ParameterSpec>& specs,
               const std::vector<std::string>& others)
{
    object.CheckKeys(GetKeys(specs, others));
    ParameterSet parameters = MakeDefaults(specs);
    for (const auto& spec : specs)
    {
        const auto given = spec.presence == Presence::Required
                               ? object.Require(spec.name, ShowParameter(spec.defaultValue))
                               : object.Find(spec.name);
        if (given)
        {
            parameters.Set(spec.name, ReadAs(*given, FindForm(*given, spec)));
        }
    }
    return parameters;
}

const KindSpec*
FindKind(std::span<const KindSpec> kinds, std::string_view name)
{
    const auto found = std::ranges::find(kinds, name, &KindSpec::name);
    return found == kinds.end() ? nullptr : &*found;
}

std::vector<std::string>
GetKindNames(std::span<const KindSpec> kinds)
{
    std::vector<std::string> names;
    std::ranges::transform(kinds, std::back_inserter(names), &KindSpec::name);
    return names;
}

const KindSpec&
ReadKind(const JsonValue& section, std::span<const KindSpec> kinds, const std::string& example)
{
    return *FindKind(kinds, section.Require("kind", example).AsChoice(GetKindNames(kinds)));
}

void
FailAt(const JsonValue& object, const ParameterError& error)
{
    auto place = object;
    for (const auto& key :
         error.GetPath().empty() ? std::vector<std::string>{} : SplitPath(error.GetPath()))
    {
        const auto next =
            place.IsArray() ? std::optional(place.GetItems().at(std::stoul(key))) : place.Find(key);
        if (!next)
        {
            break;
        }
        place = *next;
    }
    if (error.IsExpectation())
    {
        place.Fail(error.what());
    }
    place.FailWith(error.what());
}

} // namespace ns3::gradsync
