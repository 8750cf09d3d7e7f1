// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PAUSE_CLOCK_H
#define GRADSYNC_PAUSE_CLOCK_H

#include "ns3/fabric-packet.h"

#include <cstdint>

namespace ns3::gradsync
{

/// How often and how long a port was paused. The port knows whether it is.
class PauseClock
{
  public:
    void Begin(TimeStepCount now)
    {
        m_since = now;
        ++m_count;
    }

    void End(TimeStepCount now)
    {
        m_total += now - m_since;
    }

    /// Counts pauses that were not simulated.
    void Add(uint64_t count, TimeStepCount total)
    {
        m_count += count;
        m_total += total;
    }

    /// How often.
    uint64_t GetCount() const
    {
        return m_count;
    }

    /// How long, up to `now`. \param isPaused one has begun and not ended
    TimeStepCount GetTotal(bool isPaused, TimeStepCount now) const
    {
        return m_total + (isPaused ? now - m_since : 0);
    }

  private:
    TimeStepCount m_since{0};
    TimeStepCount m_total{0};
    uint64_t m_count{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_PAUSE_CLOCK_H
