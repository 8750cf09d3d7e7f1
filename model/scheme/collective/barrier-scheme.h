// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BARRIER_SCHEME_H
#define GRADSYNC_BARRIER_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Nobody goes on before all have come (doc/schemes.rst).
Scheme MakeBarrierScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_BARRIER_SCHEME_H
