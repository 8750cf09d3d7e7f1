// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PASSING_SCHEME_H
#define GRADSYNC_PASSING_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Rings inside servers, switches that add up between them (doc/schemes.rst).
Scheme MakePassingScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_PASSING_SCHEME_H
