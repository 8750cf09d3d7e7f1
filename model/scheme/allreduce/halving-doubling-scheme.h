// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_HALVING_DOUBLING_SCHEME_H
#define GRADSYNC_HALVING_DOUBLING_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Recursive halving, then recursive doubling (doc/schemes.rst).
Scheme MakeHalvingDoublingScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_HALVING_DOUBLING_SCHEME_H
