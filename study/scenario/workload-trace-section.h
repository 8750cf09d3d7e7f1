// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_WORKLOAD_TRACE_SECTION_H
#define GRADSYNC_WORKLOAD_TRACE_SECTION_H

#include "ns3/parameter-spec.h"

#include <array>
#include <vector>

namespace ns3::gradsync
{

/// What `trace` of a job knows.
const std::vector<ParameterSpec>& GetWorkloadTraceParameters();

/// Its schemes, as TraceCollective numbers what they do.
const std::array<const char*, 7>& GetTraceSchemeKeys();

} // namespace ns3::gradsync

#endif // GRADSYNC_WORKLOAD_TRACE_SECTION_H
