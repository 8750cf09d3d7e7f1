// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/parameter-spec.h"

#include <fmt/format.h>
#include <utility>

namespace ns3::gradsync
{

void
ParameterSet::Set(const std::string& name, ParameterValue value)
{
    m_values.insert_or_assign(name, std::move(value));
}

const ParameterSet&
ParameterSet::GetObject(const std::string& name) const
{
    return Get<std::vector<ParameterSet>>(name).at(0);
}

uint32_t
GetNumber(const ParameterSet& parameters, const std::string& name)
{
    return static_cast<uint32_t>(parameters.Get<int64_t>(name));
}

uint64_t
GetPicoseconds(const ParameterSet& parameters, const std::string& name)
{
    return static_cast<uint64_t>(parameters.Get<Time>(name).GetPicoSeconds());
}

ParameterSpec
Required(ParameterSpec spec)
{
    spec.presence = Presence::Required;
    return spec;
}

ParameterSpec
Optional(ParameterSpec spec)
{
    spec.presence = Presence::Optional;
    return spec;
}

ParameterSpec
MakeObjectSpec(std::string name, std::string help, std::vector<ParameterSpec> members)
{
    ParameterSpec spec{std::move(name), std::vector<ParameterSet>(), std::move(help)};
    spec.members = std::move(members);
    return Optional(std::move(spec));
}

ParameterError::ParameterError(std::string path, const std::string& problem)
    : std::runtime_error(problem),
      m_path(std::move(path))
{
}

ParameterError
ParameterError::Expected(std::string path, const std::string& expected)
{
    ParameterError error(std::move(path), expected);
    error.m_isExpectation = true;
    return error;
}

ParameterError
ParameterError::Missing(std::string_view name, std::string_view example)
{
    return {"",
            fmt::format("\"{}\" is missing, expected for example \"{}\": {}", name, name, example)};
}

ParameterSet
MakeDefaults(const std::vector<ParameterSpec>& specs)
{
    ParameterSet parameters;
    for (const auto& spec : specs)
    {
        if (spec.presence == Presence::Default)
        {
            parameters.Set(spec.name, spec.defaultValue);
        }
    }
    return parameters;
}

} // namespace ns3::gradsync
