// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SPARSE_ALL_GATHER_SCHEME_H
#define GRADSYNC_SPARSE_ALL_GATHER_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// All-gather of parts that differ in size (doc/schemes.rst).
Scheme MakeSparseAllGatherScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_SPARSE_ALL_GATHER_SCHEME_H
