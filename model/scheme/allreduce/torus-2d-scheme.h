// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TORUS_2D_SCHEME_H
#define GRADSYNC_TORUS_2D_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Rings in the rows, then in the columns of a grid (doc/schemes.rst).
Scheme MakeTorus2dScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_TORUS_2D_SCHEME_H
