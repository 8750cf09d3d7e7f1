// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/flood-clock.h"

#include "ns3/simulator.h"

#include <cmath>
#include <utility>

namespace ns3::gradsync
{

FloodClock::FloodClock(uint32_t packetBytes, std::function<void()> send)
    : m_packetBytes(packetBytes),
      m_send(std::move(send))
{
}

FloodClock::~FloodClock()
{
    Cancel();
}

void
FloodClock::Cancel()
{
    // Not EventId::Cancel, which makes a new simulator when the old one is destroyed already.
    if (auto* event = m_event.PeekEventImpl())
    {
        event->Cancel();
    }
}

void
FloodClock::SetBitRate(double bitRate)
{
    if (bitRate == m_bitRate)
    {
        return;
    }
    Cancel();
    m_bitRate = bitRate;
    if (bitRate > 0.0)
    {
        const auto stepsPerSecond = static_cast<double>(Seconds(1).GetTimeStep());
        m_interval = TimeStep(std::llround(8.0 * m_packetBytes / bitRate * stepsPerSecond));
        m_event = Simulator::ScheduleNow(&FloodClock::Tick, this);
    }
}

void
FloodClock::Tick()
{
    m_send();
    m_event = Simulator::Schedule(m_interval, &FloodClock::Tick, this);
}

} // namespace ns3::gradsync
