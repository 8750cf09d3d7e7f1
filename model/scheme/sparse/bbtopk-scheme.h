// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BBTOPK_SCHEME_H
#define GRADSYNC_BBTOPK_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// bbTopk's exchange of sparse gradients on two levels (doc/schemes.rst).
Scheme MakeBbTopKScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_BBTOPK_SCHEME_H
