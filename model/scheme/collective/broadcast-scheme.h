// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BROADCAST_SCHEME_H
#define GRADSYNC_BROADCAST_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Everything from one worker to all (doc/schemes.rst).
Scheme MakeBroadcastScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_BROADCAST_SCHEME_H
