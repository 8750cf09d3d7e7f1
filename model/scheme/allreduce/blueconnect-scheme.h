// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BLUECONNECT_SCHEME_H
#define GRADSYNC_BLUECONNECT_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Rings in one dimension of a grid after the other (doc/schemes.rst).
Scheme MakeBlueConnectScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_BLUECONNECT_SCHEME_H
