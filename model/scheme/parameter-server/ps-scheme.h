// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PS_SCHEME_H
#define GRADSYNC_PS_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Parameter servers, co-located with the workers or dedicated (doc/schemes.rst).
Scheme MakePsScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_PS_SCHEME_H
