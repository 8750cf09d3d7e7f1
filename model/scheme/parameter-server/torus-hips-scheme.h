// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TORUS_HIPS_SCHEME_H
#define GRADSYNC_TORUS_HIPS_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// HiPS on a torus of directly linked servers (doc/schemes.rst).
Scheme MakeTorusHipsScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_TORUS_HIPS_SCHEME_H
