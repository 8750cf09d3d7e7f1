// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_K_NOMIAL_SCHEME_H
#define GRADSYNC_K_NOMIAL_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Reduce to rank 0 and broadcast along a k-nomial tree (doc/schemes.rst).
Scheme MakeKNomialScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_K_NOMIAL_SCHEME_H
