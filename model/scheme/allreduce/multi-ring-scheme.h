// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MULTI_RING_SCHEME_H
#define GRADSYNC_MULTI_RING_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Several rings at once (doc/schemes.rst).
Scheme MakeMultiRingScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_MULTI_RING_SCHEME_H
