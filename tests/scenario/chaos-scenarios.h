// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CHAOS_SCENARIOS_H
#define GRADSYNC_CHAOS_SCENARIOS_H

#include "ns3/json-document.h"

#include <cstdint>

namespace ns3::gradsync::tests
{

/// A scenario by chance (topology, scheme, transport, faults), the same for a seed everywhere.
Json DrawScenario(uint32_t seed);

/// The same on ns-3's own stack, which takes far more time for a byte.
Json DrawTcpScenario(uint32_t seed);

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_CHAOS_SCENARIOS_H
