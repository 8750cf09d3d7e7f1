// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOWDOWN_PARAMETERS_H
#define GRADSYNC_SLOWDOWN_PARAMETERS_H

#include "ns3/parameter-spec.h"
#include "ns3/slowdown.h"

namespace ns3::gradsync
{

/// `slowdown`: one factor, or a distribution of factors.
ParameterSpec MakeSlowdownSpec();

/// \param parameters which have `slowdown` \throws ParameterError
Slowdown MakeSlowdown(const ParameterSet& parameters);

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOWDOWN_PARAMETERS_H
