// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ATP_SCHEME_H
#define GRADSYNC_ATP_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Switches add up as far as they have room, parameter servers the rest (doc/schemes.rst).
Scheme MakeAtpScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_ATP_SCHEME_H
