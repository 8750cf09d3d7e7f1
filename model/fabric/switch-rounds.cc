// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/switch-rounds.h"

#include "ns3/event-order.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// How many switches ahead what one touches first is fetched.
constexpr size_t INBOX_AHEAD = 6;
constexpr size_t LINKS_AHEAD = 4;
constexpr size_t PORTS_AHEAD = 2;

} // namespace

SwitchRounds::SwitchRounds(SimulatorImpl& simulator, TimeStepCount lookahead)
    : m_simulator(&simulator),
      m_lookahead(lookahead)
{
}

uint32_t
SwitchRounds::Add(FabricSwitch& node, const std::vector<FabricPort*>& links)
{
    m_inboxes.emplace_back(node, links);
    m_due.push_back(INT64_MAX);
    return static_cast<uint32_t>(m_inboxes.size() - 1);
}

TimeStepCount
SwitchRounds::GetNow() const
{
    return m_simulator->Now().GetTimeStep();
}

void
SwitchRounds::Expect(uint32_t number, uint16_t port, TimeStepCount arrival)
{
    if (m_onFirst) [[unlikely]]
    {
        std::exchange(m_onFirst, {})();
        if (m_isDissolved)
        {
            return; // and the link has scheduled it
        }
    }
    m_inboxes[number].Expect(port, arrival);
    Note(number, arrival);
}

void
SwitchRounds::AddDeparture(uint32_t number, LazySender& port, TimeStepCount at)
{
    m_inboxes[number].AddDeparture(port, at);
    Note(number, at);
}

/// A switch has something to do.
inline void
SwitchRounds::Note(uint32_t number, TimeStepCount at)
{
    m_due[number] = std::min(m_due[number], at);
    if (at < m_next)
    {
        m_next = at;
        if (!m_isRunning && !m_isHeld)
        {
            Schedule();
        }
    }
}

void
SwitchRounds::Schedule()
{
    if (m_next < m_scheduled)
    {
        m_scheduled = m_next;
        Ref(); // the simulator drops one reference after the event
        m_simulator->ScheduleWithContext(EventOrder::OfSwitches(),
                                         TimeStep(static_cast<uint64_t>(m_next - GetNow())),
                                         this);
    }
}

void
SwitchRounds::Notify()
{
    if (!m_simulator)
    {
        return;
    }
    ++m_rounds;
    const auto now = GetNow();
    m_scheduled = m_scheduled <= now ? INT64_MAX : m_scheduled;
    if (m_next <= now)
    {
        Run(now, std::max(now + 1, std::min(AddTimeSteps(now, m_lookahead), m_bound)));
    }
    if (m_next != INT64_MAX)
    {
        Schedule();
    }
}

void
SwitchRounds::RunHeld(TimeStepCount quiet, TimeStepCount end)
{
    if (m_next < end)
    {
        Run(quiet, end);
    }
}

void
SwitchRounds::Run(TimeStepCount now, TimeStepCount end)
{
    m_isRunning = true;
    ForgetDone(now);
    m_next = INT64_MAX;
    m_turns.clear();
    for (uint32_t number = 0; number < m_due.size(); ++number)
    {
        if (m_due[number] < end)
        {
            m_turns.push_back(number);
        }
    }
    for (size_t i = 0; i < m_turns.size(); ++i)
    {
        if (m_desk.fetches)
        {
            FetchTurns(i, end);
        }
        m_due[m_turns[i]] = m_inboxes[m_turns[i]].Run(now, end, m_desk);
    }
    m_next = *std::ranges::min_element(m_due);
    m_isRunning = false;
}

/// What is not ahead of the simulator any more.
void
SwitchRounds::ForgetDone(TimeStepCount now)
{
    size_t kept = 0;
    size_t next = 0;
    for (auto& turn : m_desk.turns)
    {
        const auto first = kept;
        for (const auto end = next + turn.count; next < end; ++next)
        {
            if (m_desk.done[next] > now)
            {
                m_desk.done[kept++] = m_desk.done[next];
            }
        }
        turn.count = kept - first;
    }
    m_done += m_desk.done.size() - kept;
    m_desk.done.resize(kept);
    std::erase_if(m_desk.turns, [](const auto& turn) { return turn.count == 0; });
}

/// Fetches what the switches after this one touch first; each step needs what the one before has
/// fetched.
void
SwitchRounds::FetchTurns(size_t i, TimeStepCount end) const
{
    if (i + INBOX_AHEAD < m_turns.size())
    {
        Prefetch(&m_inboxes[m_turns[i + INBOX_AHEAD]], sizeof(SwitchInbox));
    }
    if (i + LINKS_AHEAD < m_turns.size())
    {
        m_inboxes[m_turns[i + LINKS_AHEAD]].PrefetchLinks();
    }
    if (i + PORTS_AHEAD < m_turns.size())
    {
        m_inboxes[m_turns[i + PORTS_AHEAD]].PrefetchPorts(end);
    }
}

void
SwitchRounds::CatchUp()
{
    const auto end = AddTimeSteps(GetNow(), m_lookahead);
    if (m_next < end)
    {
        Run(GetNow(), end);
    }
    if (m_next != INT64_MAX)
    {
        Schedule();
    }
}

void
SwitchRounds::Dissolve()
{
    m_isDissolved = true;
    m_next = INT64_MAX;
    const auto now = GetNow();
    for (auto& inbox : m_inboxes)
    {
        inbox.Dissolve(now);
    }
}

SwitchRoundCounts
SwitchRounds::GetCounts() const
{
    // Where nothing is left to do, the simulator's time may have ended before it was done.
    const auto now = m_next == INT64_MAX ? INT64_MAX : GetNow();
    const auto count = std::ranges::count_if(m_desk.done, [now](auto at) { return at <= now; });
    return {.taken = m_done + static_cast<uint64_t>(count), .rounds = m_rounds};
}

void
SwitchRounds::AddDone(std::map<NodeId, uint64_t>& counts) const
{
    for (const auto& inbox : m_inboxes)
    {
        counts[inbox.GetNode()] += inbox.GetDoneCount();
    }
    const auto now = m_next == INT64_MAX ? INT64_MAX : GetNow(); // see GetCounts
    auto next = m_desk.done.begin();
    for (const auto& turn : m_desk.turns)
    {
        const auto end = next + static_cast<std::ptrdiff_t>(turn.count);
        const auto ahead = std::count_if(next, end, [now](auto at) { return at > now; });
        counts[turn.node] -= static_cast<uint64_t>(ahead);
        next = end;
    }
}

void
SwitchRounds::Disconnect()
{
    Cancel();
    m_simulator = nullptr;
    m_next = INT64_MAX;
    m_inboxes.clear();
}

} // namespace ns3::gradsync
