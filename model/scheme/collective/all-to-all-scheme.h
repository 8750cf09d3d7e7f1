// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ALL_TO_ALL_SCHEME_H
#define GRADSYNC_ALL_TO_ALL_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// A part of its own from every worker to every worker (doc/schemes.rst).
Scheme MakeAllToAllScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_ALL_TO_ALL_SCHEME_H
