// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_REDUCE_SCATTER_SCHEME_H
#define GRADSYNC_REDUCE_SCATTER_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// The sum of every part to one worker (doc/schemes.rst).
Scheme MakeReduceScatterScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_REDUCE_SCATTER_SCHEME_H
