// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PARAMETER_READER_H
#define GRADSYNC_PARAMETER_READER_H

#include "ns3/json-value.h"
#include "ns3/parameter-spec.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// Keys of an object with these parameters, after those that are read elsewhere; without old names.
std::vector<std::string> GetKeys(const std::vector<ParameterSpec>& specs,
                                 std::vector<std::string> others = {});

/**
 * The one reader of parameters: an object against what is declared of it. Keys are known, types and
 * ranges are kept, defaults stand for what is not given.
 * \param others keys that are read elsewhere, as `kind` \throws ScenarioError
 */
ParameterSet ReadParameters(const JsonValue& object,
                            const std::vector<ParameterSpec>& specs,
                            const std::vector<std::string>& others = {});

/// The kind that a section names; that of the table. \throws ScenarioError
const KindSpec& ReadKind(const JsonValue& section,
                         std::span<const KindSpec> kinds,
                         const std::string& example);

/// The kind of that name, or nullptr.
const KindSpec* FindKind(std::span<const KindSpec> kinds, std::string_view name);

std::vector<std::string> GetKindNames(std::span<const KindSpec> kinds);

/// Throws what an error about an object says, where it stands.
[[noreturn]] void FailAt(const JsonValue& object, const ParameterError& error);

/**
 * Calls a function with parameters that were read from `object`, and places what it says of those
 * that do not go together (ParameterError) where they stand. \throws ScenarioError
 */
template <typename Function>
auto
PlaceParameterErrors(const JsonValue& object, Function function)
{
    try
    {
        return function();
    }
    catch (const ParameterError& error)
    {
        FailAt(object, error);
    }
}

} // namespace ns3::gradsync

#endif // GRADSYNC_PARAMETER_READER_H
