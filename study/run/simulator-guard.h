// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SIMULATOR_GUARD_H
#define GRADSYNC_SIMULATOR_GUARD_H

#include "ns3/simulator.h"

namespace ns3::gradsync
{

/// Leaves ns-3's simulator clean however a simulation ends.
class SimulatorGuard
{
  public:
    SimulatorGuard() = default;
    SimulatorGuard(const SimulatorGuard&) = delete;
    SimulatorGuard& operator=(const SimulatorGuard&) = delete;

    ~SimulatorGuard()
    {
        Simulator::Destroy();
    }
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SIMULATOR_GUARD_H
