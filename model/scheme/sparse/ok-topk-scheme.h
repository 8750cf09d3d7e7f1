// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_OK_TOPK_SCHEME_H
#define GRADSYNC_OK_TOPK_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Ok-Topk's exchange of sparse gradients (doc/schemes.rst).
Scheme MakeOkTopKScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_OK_TOPK_SCHEME_H
