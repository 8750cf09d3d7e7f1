// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ALL_GATHER_SCHEME_H
#define GRADSYNC_ALL_GATHER_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Every worker's part to all workers (doc/schemes.rst).
Scheme MakeAllGatherScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_ALL_GATHER_SCHEME_H
