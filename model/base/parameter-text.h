// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PARAMETER_TEXT_H
#define GRADSYNC_PARAMETER_TEXT_H

#include "ns3/parameter-spec.h"

#include <string>

namespace ns3::gradsync
{

/// A value as scenarios write it: texts and what has a unit in quotes.
std::string ShowParameter(const ParameterValue& value);

/// Likewise without quotes.
std::string ShowPlainly(const ParameterValue& value);

} // namespace ns3::gradsync

#endif // GRADSYNC_PARAMETER_TEXT_H
