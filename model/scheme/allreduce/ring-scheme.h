// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RING_SCHEME_H
#define GRADSYNC_RING_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Ring all-reduce: reduce-scatter, then all-gather, around one ring (doc/schemes.rst).
Scheme MakeRingScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_RING_SCHEME_H
