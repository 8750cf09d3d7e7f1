// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-nic.h"

#include "ns3/nstime.h"
#include "ns3/roce-transport.h"

#include <algorithm>

namespace ns3::gradsync
{

void
RoceNic::Install(RoceTransport* transport, FabricPort* port, SimulatorImpl* simulator)
{
    m_transport = transport;
    m_port = port;
    m_simulator = simulator;
    m_timer = Ptr<EventImpl>(new Timer(this), false);
    port->SetSource(this);
}

FabricPacket*
RoceNic::Pull(TimeStepCount start)
{
    while (m_firstReady)
    {
        auto& queuePair = *m_firstReady;
        m_firstReady = queuePair.nextReady;
        queuePair.isReady = false;
        if (queuePair.isClosed)
        {
            m_transport->Recycle(queuePair);
            continue;
        }
        if (!m_transport->MaySend(queuePair))
        {
            continue; // comes back when an acknowledgement or a message arrives
        }
        auto* packet = m_transport->MakeDataPacket(queuePair);
        if (m_transport->MaySend(queuePair))
        {
            Add(queuePair);
        }
        Touch(queuePair, start);
        return packet;
    }
    return nullptr;
}

void
RoceNic::Add(RoceQueuePair& queuePair)
{
    if (queuePair.isReady)
    {
        return;
    }
    queuePair.isReady = true;
    queuePair.nextReady = nullptr;
    if (m_firstReady)
    {
        m_lastReady->nextReady = &queuePair;
    }
    else
    {
        m_firstReady = &queuePair;
    }
    m_lastReady = &queuePair;
}

void
RoceNic::Touch(RoceQueuePair& queuePair, TimeStepCount now)
{
    queuePair.lastActivity = now;
    if (m_newest != &queuePair)
    {
        if (queuePair.isOutstanding)
        {
            Unlink(queuePair);
        }
        queuePair.earlier = m_newest;
        queuePair.later = nullptr;
        (m_newest ? m_newest->later : m_oldest) = &queuePair;
        m_newest = &queuePair;
        queuePair.isOutstanding = true;
    }
    if (!m_timerPending)
    {
        const auto elapsed = m_simulator->Now().GetTimeStep() - now;
        ScheduleTimer(std::max<TimeStepCount>(m_transport->GetTimeoutSteps() - elapsed, 0));
    }
}

void
RoceNic::Forget(RoceQueuePair& queuePair)
{
    if (queuePair.isOutstanding)
    {
        Unlink(queuePair);
        queuePair.isOutstanding = false;
    }
}

void
RoceNic::Unlink(RoceQueuePair& queuePair)
{
    (queuePair.earlier ? queuePair.earlier->later : m_oldest) = queuePair.later;
    (queuePair.later ? queuePair.later->earlier : m_newest) = queuePair.earlier;
}

void
RoceNic::ScheduleTimer(TimeStepCount delay)
{
    m_timerPending = true;
    m_timer->Ref(); // the simulator drops one reference after the event
    m_simulator->Schedule(TimeStep(delay), PeekPointer(m_timer));
}

void
RoceNic::OnTimer()
{
    m_timerPending = false;
    const auto now = m_simulator->Now().GetTimeStep();
    m_port->Sync(now); // lazy departures may have touched queue pairs since
    while (m_oldest && m_oldest->lastActivity + m_transport->GetTimeoutSteps() <= now)
    {
        m_transport->OnTimeout(*m_oldest, now);
    }
    if (m_oldest && !m_timerPending)
    {
        ScheduleTimer(m_oldest->lastActivity + m_transport->GetTimeoutSteps() - now);
    }
}

} // namespace ns3::gradsync
