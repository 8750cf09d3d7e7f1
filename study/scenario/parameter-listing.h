// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PARAMETER_LISTING_H
#define GRADSYNC_PARAMETER_LISTING_H

#include "ns3/json-document.h"
#include "ns3/parameter-spec.h"

#include <iosfwd>
#include <vector>

namespace ns3::gradsync
{

/// A line for each parameter, those of objects by their paths; without old names.
void ListParameters(const std::vector<ParameterSpec>& specs, std::ostream& out);

/// The same for other programs: a list of objects.
Json DescribeParameters(const std::vector<ParameterSpec>& specs);

} // namespace ns3::gradsync

#endif // GRADSYNC_PARAMETER_LISTING_H
