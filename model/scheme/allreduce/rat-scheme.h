// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RAT_SCHEME_H
#define GRADSYNC_RAT_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Resilient all-reduce tree: one balanced aggregation tree per worker (doc/schemes.rst).
Scheme MakeRatScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_RAT_SCHEME_H
