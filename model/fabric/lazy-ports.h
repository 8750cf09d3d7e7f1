// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_LAZY_PORTS_H
#define GRADSYNC_LAZY_PORTS_H

#include "ns3/fabric-port.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// Ports of which somebody must know in time what has started: their departures are lazy.
class LazyPorts
{
  public:
    /// \param port outlives this
    void Add(FabricPort& port)
    {
        m_ports.push_back(&port);
    }

    /// Starts what should have started up to `now`.
    void Depart(TimeStepCount now)
    {
        for (auto* port : m_ports)
        {
            port->Sync(now);
        }
    }

    /// When the next packet starts that waits, if nothing happens before; INT64_MAX: none waits for
    /// its turn alone. After Depart.
    TimeStepCount GetNextStart() const
    {
        TimeStepCount next = INT64_MAX;
        for (const auto* port : m_ports)
        {
            next = std::min(next, port->GetNextStart());
        }
        return next;
    }

  private:
    std::vector<FabricPort*> m_ports;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_LAZY_PORTS_H
