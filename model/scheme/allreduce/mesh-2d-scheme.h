// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MESH_2D_SCHEME_H
#define GRADSYNC_MESH_2D_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Two halves, one rows first and one columns first (doc/schemes.rst).
Scheme MakeMesh2dScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_MESH_2D_SCHEME_H
