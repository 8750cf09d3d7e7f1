// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_CALCULATION_LOADER_H
#define GRADSYNC_P4_CALCULATION_LOADER_H

#include "ns3/p4-emitter.h"

namespace ns3::gradsync
{

/// Reads the algorithm and the input of a calculation or of a selector. \throws P4Error
P4Calculation LoadP4Calculation(P4Emitter& emitter, const P4Json& item);

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_CALCULATION_LOADER_H
