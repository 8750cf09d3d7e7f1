// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FLOOD_CLOCK_H
#define GRADSYNC_FLOOD_CLOCK_H

#include "ns3/event-id.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <functional>

namespace ns3::gradsync
{

/// Tells when the packets of a flood of constant rate leave.
class FloodClock
{
  public:
    /// \param packetBytes on the wire; \param send sends one packet
    FloodClock(uint32_t packetBytes, std::function<void()> send);
    ~FloodClock();
    FloodClock(const FloodClock&) = delete;
    FloodClock& operator=(const FloodClock&) = delete;

    /// From now on, on the wire; 0: stops.
    void SetBitRate(double bitRate);

  private:
    void Tick();
    void Cancel();

    uint32_t m_packetBytes;
    std::function<void()> m_send;
    Time m_interval;
    double m_bitRate{0.0};
    EventId m_event;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FLOOD_CLOCK_H
