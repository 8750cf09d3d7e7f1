// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PS_RING_SCHEME_H
#define GRADSYNC_PS_RING_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Rings inside servers, parameter servers between them (doc/schemes.rst).
Scheme MakePsRingScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_PS_RING_SCHEME_H
