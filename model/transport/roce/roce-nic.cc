// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-nic.h"

#include "ns3/event-order.h"
#include "ns3/nstime.h"
#include "ns3/roce-sender.h"

#include <algorithm>
#include <functional>

namespace ns3::gradsync
{

RoceNic::~RoceNic()
{
    // The simulator may hold them for longer.
    for (const auto& timer : {m_timer, m_wake})
    {
        if (timer)
        {
            timer->Cancel();
        }
    }
}

void
RoceNic::Install(RoceSender* sender, FabricPort* port, SimulatorImpl* simulator, double bitRate)
{
    m_sender = sender;
    m_port = port;
    m_simulator = simulator;
    m_bitRate = bitRate;
    m_timer = Ptr<EventImpl>(new Timer<&RoceNic::OnTimer>(this), false);
    m_wake = Ptr<EventImpl>(new Timer<&RoceNic::OnWake>(this), false);
    port->SetSource(this);
}

/// True when an answer is due after this packet. That it is for an earlier end of a message can
/// only be with gaps: no look, without them, at the messages, which are in no cache.
inline bool
RoceNic::IsAsking(const RoceQueuePair& queuePair, const FabricPacket& packet) const
{
    const auto ackEvery = m_sender->GetAckEvery();
    return (packet.flags & PacketFlag::END_OF_MESSAGE) != 0 || queuePair.IsCountReached(ackEvery) ||
           (queuePair.hasGaps && queuePair.IsAnswerDue(ackEvery));
}

/// Who is next is in no cache if it has waited for long, and not all pulls are foreseen: by the
/// time of its turn all of it is there.
inline void
RoceNic::PrefetchTurns() const
{
    if (!m_turns.IsEmpty())
    {
        m_sender->PrefetchTurn(m_turns.Get(0), 1);
    }
    if (m_turns.GetSize() > 1)
    {
        m_sender->PrefetchTurn(m_turns.Get(1), 0);
    }
}

inline FabricPacket*
RoceNic::PullReady(TimeStepCount start)
{
    while (!m_turns.IsEmpty())
    {
        const auto number = m_turns.Pop();
        PrefetchTurns();
        auto& queuePair = m_sender->TakeTurn(number);
        queuePair.isReady = false;
        if (queuePair.isClosed)
        {
            m_sender->Recycle(queuePair);
            continue;
        }
        if (!queuePair.MaySend())
        {
            continue; // comes back when an acknowledgement or a message arrives
        }
        if (queuePair.flow->due > start)
        {
            Park(queuePair);
            continue;
        }
        auto* packet = m_sender->MakeDataPacket(queuePair, start);
        if (queuePair.MaySend())
        {
            Add(queuePair);
        }
        if (!queuePair.isTimed && IsAsking(queuePair, *packet))
        {
            StartTimeout(queuePair, start);
        }
        return packet;
    }
    return nullptr;
}

inline void
RoceNic::ReleaseDue(TimeStepCount start)
{
    while (!m_paced.empty() && m_paced.front().due <= start)
    {
        std::pop_heap(m_paced.begin(), m_paced.end(), std::greater<>());
        auto& queuePair = *m_paced.back().queuePair;
        m_turns.Push(queuePair.number);
        m_paced.pop_back();
    }
}

FabricPacket*
RoceNic::Pull(TimeStepCount& start, TimeStepCount now)
{
    for (;;)
    {
        ReleaseDue(start);
        if (auto* packet = PullReady(start); packet || m_paced.empty())
        {
            return packet;
        }
        const auto due = m_paced.front().due;
        if (due > now)
        {
            WakeAt(due, now);
            return nullptr;
        }
        start = due;
    }
}

void
RoceNic::PrefetchPull(uint32_t round) const
{
    if (!m_turns.IsEmpty())
    {
        m_turns.PrefetchPop();
        m_sender->PrefetchTurn(m_turns.Get(0), round);
    }
}

void
RoceNic::Park(RoceQueuePair& queuePair)
{
    queuePair.isReady = true;
    m_paced.push_back({queuePair.flow->due, m_pacedCount++, &queuePair});
    std::push_heap(m_paced.begin(), m_paced.end(), std::greater<>());
}

void
RoceNic::WakeAt(TimeStepCount due, TimeStepCount now)
{
    // A later wake-up that is under way already cannot be taken back; it will find nothing to do.
    if (due < m_wakeAt)
    {
        m_wakeAt = due;
        m_wake->Ref(); // the simulator drops one reference after the event
        m_simulator->ScheduleWithContext(EventOrder::OfWake(m_port->GetIndex()),
                                         TimeStep(due - now),
                                         PeekPointer(m_wake));
    }
}

void
RoceNic::OnWake()
{
    m_sender->CountLook(); // whether one is needed depends on when the port was synced last
    m_wakeAt = INT64_MAX;
    const auto now = m_simulator->Now().GetTimeStep();
    m_port->Sync(now);
    m_port->SourceReady(now);
}

void
RoceNic::Add(RoceQueuePair& queuePair)
{
    if (!queuePair.isReady)
    {
        m_sender->AwaitTurn(queuePair, m_turns.GetSize());
        queuePair.isReady = true;
        m_turns.Push(queuePair.number);
    }
}

void
RoceNic::StartTimeout(RoceQueuePair& queuePair, TimeStepCount now)
{
    queuePair.timedSince = now;
    if (!m_timed.IsNewest(queuePair))
    {
        StopTimeout(queuePair);
        m_timed.Push(queuePair, [this](uint32_t index) -> RoceQueuePair& {
            return *m_sender->FindQueuePair(index);
        });
    }
    if (!m_timerPending)
    {
        const auto elapsed = m_simulator->Now().GetTimeStep() - now;
        ScheduleTimer(std::max<TimeStepCount>(m_sender->GetTimeout() - elapsed, 0));
    }
}

void
RoceNic::StopTimeout(RoceQueuePair& queuePair)
{
    if (queuePair.isTimed)
    {
        m_timed.Remove(queuePair);
    }
}

void
RoceNic::Remove(RoceQueuePair& queuePair)
{
    StopTimeout(queuePair);
    if (!queuePair.isReady)
    {
        return;
    }
    queuePair.isReady = false;
    const auto isMeant = [&queuePair](const Paced& paced) { return paced.queuePair == &queuePair; };
    if (std::erase_if(m_paced, isMeant) > 0)
    {
        std::make_heap(m_paced.begin(), m_paced.end(), std::greater<>());
        return;
    }
    m_turns.Remove(queuePair.number);
}

void
RoceNic::SetSilent(bool silent, TimeStepCount now)
{
    if (silent == m_silent)
    {
        return;
    }
    m_silent = silent;
    if (silent)
    {
        m_silentSince = now;
        return;
    }
    // Who began to wait meanwhile, or is ahead of the clock, has not waited yet.
    m_timed.ForEach([this, now](uint32_t index) {
        auto& since = m_sender->FindQueuePair(index)->timedSince;
        since += now - std::clamp(since, m_silentSince, now);
    });
    if (!m_timed.IsEmpty() && !m_timerPending)
    {
        const auto end = FindOldest()->timedSince + m_sender->GetTimeout();
        ScheduleTimer(std::max<TimeStepCount>(end - now, 0));
    }
}

void
RoceNic::ScheduleTimer(TimeStepCount delay)
{
    m_timerPending = true;
    m_timer->Ref(); // the simulator drops one reference after the event
    m_simulator->ScheduleWithContext(EventOrder::OfTimeout(m_port->GetIndex()),
                                     TimeStep(delay),
                                     PeekPointer(m_timer));
}

/// Of those with an answer due; nullptr: there is none.
RoceQueuePair*
RoceNic::FindOldest() const
{
    return m_timed.IsEmpty() ? nullptr : m_sender->FindQueuePair(m_timed.GetOldest());
}

void
RoceNic::OnTimer()
{
    if (m_silent)
    {
        m_timerPending = false;
        return;
    }
    const auto now = m_simulator->Now().GetTimeStep();
    m_port->Sync(now); // lazy departures may have touched queue pairs since
    const auto timeout = m_sender->GetTimeout();
    auto* oldest = FindOldest();
    if (!oldest || oldest->timedSince + timeout > now)
    {
        m_sender->CountLook();
    }
    for (; oldest && oldest->timedSince + timeout <= now; oldest = FindOldest())
    {
        m_sender->OnTimeout(*oldest, now);
    }
    m_timerPending = false; // not before: it is for the oldest of all that is left
    if (oldest)
    {
        ScheduleTimer(oldest->timedSince + timeout - now);
    }
}

} // namespace ns3::gradsync
