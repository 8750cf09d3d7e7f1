// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FAULT_MAKER_H
#define GRADSYNC_FAULT_MAKER_H

#include "ns3/fault-spec.h"
#include "ns3/parameter-spec.h"

namespace ns3::gradsync
{

/**
 * A fault with all but its targets, which are for those to find who know the network.
 * \param parameters of GetFaultKinds \throws ParameterError
 */
FaultSpec MakeFault(FaultKind kind, const ParameterSet& parameters);

} // namespace ns3::gradsync

#endif // GRADSYNC_FAULT_MAKER_H
