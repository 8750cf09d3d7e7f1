// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PARAMETER_SCHEMA_H
#define GRADSYNC_PARAMETER_SCHEMA_H

#include "ns3/json-document.h"
#include "ns3/parameter-spec.h"

#include <string>
#include <vector>

namespace ns3::gradsync
{

/// A help text as a sentence.
std::string MakeSentence(std::string help);

/// To the definition of that name.
Json MakeReference(const std::string& name);

/// What JSON schema says of a parameter.
Json MakeParameterSchema(const ParameterSpec& spec);

/// The properties of an object, but for those that are named by ns-3 types.
Json MakeProperties(const std::vector<ParameterSpec>& specs);

/// True where parameters are named by ns-3 types, which are not known beforehand.
bool TakesTypes(const std::vector<ParameterSpec>& specs);

/// Objects of a user's own ns-3 types, by the pattern of their names.
Json MakeTypePattern();

} // namespace ns3::gradsync

#endif // GRADSYNC_PARAMETER_SCHEMA_H
