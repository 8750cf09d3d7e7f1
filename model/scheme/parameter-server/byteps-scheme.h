// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BYTEPS_SCHEME_H
#define GRADSYNC_BYTEPS_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Parameter servers on GPU and CPU machines (doc/schemes.rst).
Scheme MakeBytePsScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_BYTEPS_SCHEME_H
