// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BUSY_CLOCK_H
#define GRADSYNC_BUSY_CLOCK_H

#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <cstdint>

namespace ns3::gradsync
{

/// For how long at least one of several things was under way.
class BusyClock
{
  public:
    void Begin()
    {
        if (m_count++ == 0)
        {
            m_since = Simulator::Now();
        }
    }

    void End()
    {
        if (--m_count == 0)
        {
            m_total += Simulator::Now() - m_since;
        }
    }

    /// Until now.
    Time GetTime() const
    {
        return m_count == 0 ? m_total : m_total + Simulator::Now() - m_since;
    }

  private:
    uint32_t m_count{0};
    Time m_since;
    Time m_total;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_BUSY_CLOCK_H
