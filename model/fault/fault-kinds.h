// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FAULT_KINDS_H
#define GRADSYNC_FAULT_KINDS_H

#include "ns3/fault-spec.h"
#include "ns3/parameter-spec.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// From a failure to when others know of it, where a fault does not say.
inline const Time DEFAULT_DETECTION_DELAY = MilliSeconds(1);

/// All faults that scenarios can name, and what they can say of them.
std::span<const KindSpec> GetFaultKinds();

/// The kind of that name, which must be there.
FaultKind FindFaultKind(std::string_view name);

/// Names of the parameters that say what a fault of this kind hits.
std::vector<std::string> GetFaultTargetNames(FaultKind kind);

} // namespace ns3::gradsync

#endif // GRADSYNC_FAULT_KINDS_H
