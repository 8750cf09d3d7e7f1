// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/parameter-schema.h"

#include "ns3/parameter-text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <type_traits>
#include <variant>

namespace ns3::gradsync
{

namespace
{

constexpr const char* TYPE_PATTERN = "::";

bool
IsTypeName(const std::string& name)
{
    return name.find(TYPE_PATTERN) != std::string::npos;
}

/// Whole where it is: 65535, not 65535.0.
Json
MakeNumber(double number)
{
    constexpr double EXACT = 9e15;
    return std::abs(number) < EXACT && number == std::floor(number)
               ? Json(static_cast<int64_t>(number))
               : Json(number);
}

Json
MakeNumberSchema(const char* type, const ParameterSpec& spec)
{
    Json schema{{"type", type}};
    if (std::isfinite(spec.minimum))
    {
        schema["minimum"] = MakeNumber(spec.minimum);
    }
    if (std::isfinite(spec.maximum))
    {
        schema["maximum"] = MakeNumber(spec.maximum);
    }
    return schema;
}

Json
MakeTextSchema(const ParameterSpec& spec)
{
    if (spec.allowed.empty())
    {
        Json schema{{"type", "string"}};
        if (spec.isFile || spec.minimum > 0.0)
        {
            schema["minLength"] = 1;
        }
        return schema;
    }
    Json names = Json::array();
    std::ranges::copy_if(spec.allowed, std::back_inserter(names), [](const auto& name) {
        return !IsTypeName(name);
    });
    Json known{{"enum", names}};
    return TakesTypes({spec})
               ? Json{{"anyOf",
                       Json::array({known, {{"type", "string"}, {"pattern", TYPE_PATTERN}}})}}
               : known;
}

/// \param isWhole all must be given here: no sweep sets a part of it
Json
MakeObjectSchema(const std::vector<ParameterSpec>& members, bool isWhole)
{
    Json schema{{"type", "object"}, {"properties", MakeProperties(members)}};
    Json required = Json::array();
    for (const auto& member : members)
    {
        if (isWhole && member.presence == Presence::Required)
        {
            required.push_back(member.name);
        }
    }
    if (!required.empty())
    {
        schema["required"] = required;
    }
    if (TakesTypes(members))
    {
        schema["patternProperties"] = MakeTypePattern();
    }
    schema["additionalProperties"] = false;
    return schema;
}

Json
MakeListSchema(Json items)
{
    return {{"type", "array"}, {"items", std::move(items)}};
}

/// Without description and other forms.
Json
MakePlainSchema(const ParameterSpec& spec, bool isWhole)
{
    return std::visit(
        [&spec, isWhole](const auto& standard) -> Json {
            using Type = std::decay_t<decltype(standard)>;
            if constexpr (std::is_same_v<Type, bool>)
            {
                return {{"type", "boolean"}};
            }
            else if constexpr (std::is_same_v<Type, int64_t>)
            {
                return MakeNumberSchema("integer", spec);
            }
            else if constexpr (std::is_same_v<Type, double>)
            {
                return MakeNumberSchema("number", spec);
            }
            else if constexpr (std::is_same_v<Type, std::string>)
            {
                return MakeTextSchema(spec);
            }
            else if constexpr (std::is_same_v<Type, std::vector<double>>)
            {
                return MakeListSchema(MakeNumberSchema(spec.isWhole ? "integer" : "number", spec));
            }
            else if constexpr (std::is_same_v<Type, Time>)
            {
                return MakeReference("time");
            }
            else if constexpr (std::is_same_v<Type, DataRate>)
            {
                return MakeReference("rate");
            }
            else if constexpr (std::is_same_v<Type, ByteCount>)
            {
                return MakeReference("size");
            }
            else if constexpr (std::is_same_v<Type, std::vector<ParameterSet>>)
            {
                return spec.isList ? MakeListSchema(MakeObjectSchema(spec.members, true))
                                   : MakeObjectSchema(spec.members, isWhole);
            }
            else
            {
                return MakeReference(standard.name);
            }
        },
        spec.defaultValue);
}

std::string
Describe(const ParameterSpec& spec)
{
    if (!spec.renamedTo.empty())
    {
        return fmt::format("Old name of {}.", spec.renamedTo);
    }
    auto text = MakeSentence(spec.help);
    if (spec.presence == Presence::Default)
    {
        const auto value = ShowPlainly(spec.defaultValue);
        text += fmt::format(" Default {}.", value.empty() ? "empty" : value);
    }
    return text;
}

} // namespace

Json
MakeReference(const std::string& name)
{
    return {{"$ref", "#/$defs/" + name}};
}

std::string
MakeSentence(std::string help)
{
    if (!help.empty())
    {
        help[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(help[0])));
        help += help.ends_with('.') ? "" : ".";
    }
    return help;
}

bool
TakesTypes(const std::vector<ParameterSpec>& specs)
{
    return std::ranges::any_of(specs, [](const ParameterSpec& spec) {
        return std::ranges::any_of(spec.allowed, IsTypeName);
    });
}

Json
MakeTypePattern()
{
    return {{TYPE_PATTERN,
             {{"description", "Parameters of what has the name of that ns-3 type, a user's own."},
              {"type", "object"}}}};
}

Json
MakeParameterSchema(const ParameterSpec& spec)
{
    Json schema = Json::object();
    if (const auto text = Describe(spec); !text.empty())
    {
        schema["description"] = text;
    }
    if (!spec.renamedTo.empty())
    {
        schema["deprecated"] = true;
        return schema;
    }
    Json forms = Json::array({MakePlainSchema(spec, false)});
    for (const auto& form : spec.forms)
    {
        // Put in place of a file's name by the reader: nobody writes it.
        if (form.defaultValue != ParameterValue(SharedShape{"measuredUnions"}))
        {
            forms.push_back(MakePlainSchema(form, true));
        }
    }
    if (forms.size() > 1)
    {
        schema["anyOf"] = std::move(forms);
        return schema;
    }
    schema.update(forms[0]);
    return schema;
}

Json
MakeProperties(const std::vector<ParameterSpec>& specs)
{
    Json properties = Json::object();
    for (const auto& spec : specs)
    {
        if (!IsTypeName(spec.name))
        {
            properties[spec.name] = MakeParameterSchema(spec);
        }
    }
    return properties;
}

} // namespace ns3::gradsync
