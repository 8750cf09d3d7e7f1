// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BCUBE_HIPS_SCHEME_H
#define GRADSYNC_BCUBE_HIPS_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Hierarchical exchange over the ports of servers (doc/schemes.rst).
Scheme MakeBcubeHipsScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_BCUBE_HIPS_SCHEME_H
