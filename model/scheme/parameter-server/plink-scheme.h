// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PLINK_SCHEME_H
#define GRADSYNC_PLINK_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Sharded exchange in groups, then among groups (doc/schemes.rst).
Scheme MakePlinkScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_PLINK_SCHEME_H
