// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BUTTERFLY_SCHEME_H
#define GRADSYNC_BUTTERFLY_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Recursive doubling of the whole gradient (doc/schemes.rst).
Scheme MakeButterflyScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_BUTTERFLY_SCHEME_H
