// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PARAMETER_HUB_SCHEME_H
#define GRADSYNC_PARAMETER_HUB_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// A box per rack, and exchange among the boxes (doc/schemes.rst).
Scheme MakeParameterHubScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_PARAMETER_HUB_SCHEME_H
