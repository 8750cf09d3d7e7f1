// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GEO_HIPS_SCHEME_H
#define GRADSYNC_GEO_HIPS_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Party servers below a global one, as GeoMX (doc/schemes.rst).
Scheme MakeGeoHipsScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_GEO_HIPS_SCHEME_H
