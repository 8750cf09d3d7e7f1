// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NETREDUCE_SCHEME_H
#define GRADSYNC_NETREDUCE_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Boxes at switches that add up RoCE messages on their way (doc/schemes.rst).
Scheme MakeNetReduceScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_NETREDUCE_SCHEME_H
