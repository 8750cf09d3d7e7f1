// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_REDUCE_SCHEME_H
#define GRADSYNC_REDUCE_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// The sum of everything to one worker (doc/schemes.rst).
Scheme MakeReduceScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_REDUCE_SCHEME_H
