// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SWITCHML_SCHEME_H
#define GRADSYNC_SWITCHML_SCHEME_H

#include "ns3/scheme.h"

namespace ns3::gradsync
{

/// Switches add up what all workers send (doc/schemes.rst).
Scheme MakeSwitchMlScheme();

} // namespace ns3::gradsync

#endif // GRADSYNC_SWITCHML_SCHEME_H
