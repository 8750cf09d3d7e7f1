// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_HIERARCHICAL_SCHEME_H
#define GRADSYNC_HIERARCHICAL_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Hierarchical all-reduce: rings in groups, a ring among their roots, a broadcast
/// (doc/schemes.rst).
Scheme MakeHierarchicalScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_HIERARCHICAL_SCHEME_H
