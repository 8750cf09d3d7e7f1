// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/window-protocol.h"

#include "ns3/event-order.h"
#include "ns3/log.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncWindowProtocol");

namespace
{

/// Nothing that is simulated depends on it. A look at the CPU time would cost ten times as much.
int64_t
GetWallNs()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

} // namespace

WindowProtocol::WindowProtocol(WindowSimulatorImpl& simulator,
                               DividedTransport& transport,
                               ProcessLink& link,
                               const Topology& topology,
                               const TopologyDivision& division)
    : m_simulator(simulator),
      m_transport(transport),
      m_link(link),
      m_own(link.GetOwn()),
      m_told(link.GetCount()),
      m_notes(link.GetCount()),
      m_batches(link.GetCount())
{
    for (const auto node : topology.GetEndpoints())
    {
        m_partOf.push_back(division.partOf[node]);
    }
    const auto delay = FindLeastCutDelay(topology, division);
    m_lookahead = delay ? delay->GetTimeStep() : NEVER;
}

bool
WindowProtocol::IsHere(uint32_t endpoint) const
{
    return m_partOf[endpoint] == m_own;
}

uint32_t
WindowProtocol::GetOwnPart() const
{
    return m_own;
}

uint32_t
WindowProtocol::GetPart(uint32_t endpoint) const
{
    return m_partOf[endpoint];
}

void
WindowProtocol::UseNotices(const Time& ahead, std::function<void(const Notice&)> takeNotice)
{
    m_lookahead = std::min(m_lookahead, ahead.GetTimeStep());
    m_takeNotice = std::move(takeNotice);
}

bool
WindowProtocol::AreEndsTold() const
{
    return bool{m_takeNotice};
}

void
WindowProtocol::Tell(uint32_t part, const Notice& notice)
{
    m_told[part].push_back(notice);
}

void
WindowProtocol::OnPartEnded(std::function<void()> goOn)
{
    m_goOn = std::move(goOn);
    m_endedAt = m_simulator.Now().GetTimeStep();
    ++m_endCount;
    m_simulator.Pause();
}

void
WindowProtocol::OnSharedEvent()
{
    const auto now = m_simulator.Now().GetTimeStep();
    ++m_sharedEvents;
    if (m_sharedInstants.empty() || m_sharedInstants.back() != now)
    {
        m_sharedInstants.push_back(now);
    }
}

void
WindowProtocol::OnUnderWay(int32_t change)
{
    const auto now = m_simulator.Now().GetTimeStep();
    if (m_underWay.empty() || m_underWay.back().at != now)
    {
        m_underWay.push_back({.at = now, .change = 0});
    }
    m_underWay.back().change += change;
}

uint64_t
WindowProtocol::CountOwnEvents() const
{
    return m_simulator.GetEventCount() - m_sharedEvents - m_foreignEvents;
}

void
WindowProtocol::Run()
{
    TellAll();
    do
    {
        TellAll();
        HearAll();
    } while (RunWindow());
    HearAll(); // what was told last
    NS_LOG_INFO("process " << m_own << ": " << CountOwnEvents() << " events of its own in "
                           << m_counts.windows << " windows, " << m_counts.sentBatches
                           << " batches of " << m_counts.sentBytes << " bytes sent, "
                           << static_cast<double>(m_counts.waitNs) * 1e-9
                           << " s of waiting for others");
}

/// By what all have told after the last window but one. \returns false when nothing is left to
/// happen
bool
WindowProtocol::RunWindow()
{
    const auto next = GetNextTime();
    const bool isStopped = std::ranges::any_of(m_notes, &ProcessNote::isStopped);
    if (next > LAST_TIME_STEP || isStopped)
    {
        return false;
    }
    ++m_counts.windows;
    const auto step = std::max<int64_t>(m_lookahead / 2, 1);
    m_end = std::min(AddTimeSteps(next, m_lookahead), AddTimeSteps(std::max(m_end, next), step));
    const auto hasEnded = [this](const auto& note) { return note.endCount == m_endCount; };
    if (m_goOn && std::ranges::all_of(m_notes, hasEnded))
    {
        BeginNext();
    }
    if (m_goOn)
    {
        Follow();
    }
    else
    {
        RunTo(m_end);
    }
    return true;
}

/// All know that all parts have ended, which they do in the same window.
void
WindowProtocol::BeginNext()
{
    const auto last = GetLastEnd();
    m_simulator.RunUntil(last + 1); // what else happens at that instant comes first
    m_simulator.AdvanceTo(last);
    m_endedAt = -1;
    std::exchange(m_goOn, {})();
}

/// The own part has ended: where others go on the next iteration may begin.
void
WindowProtocol::Follow()
{
    auto end = m_end;
    for (const auto& note : m_notes)
    {
        if (note.endCount < m_endCount)
        {
            end = std::min(end, note.clock);
        }
    }
    if (end > m_simulator.Now().GetTimeStep())
    {
        RunTo(end);
    }
}

/// All that is earlier than `end`, or up to the end of this process's part.
void
WindowProtocol::RunTo(int64_t end)
{
    const auto endCount = m_endCount;
    m_simulator.RunUntil(end);
    if (m_endCount == endCount && !m_simulator.IsStopped())
    {
        m_simulator.AdvanceTo(end - 1);
        m_transport.Depart(end - 1);
        m_clock = end;
    }
}

/// Of all processes, as far as they have told.
int64_t
WindowProtocol::GetNextTime() const
{
    const auto next = std::ranges::min(m_notes, {}, &ProcessNote::nextTime).nextTime;
    return HaveAllEnded() ? std::min(next, GetLastEnd()) : next; // when the next iteration begins
}

int64_t
WindowProtocol::GetLastEnd() const
{
    return std::ranges::max(m_notes, {}, &ProcessNote::endedAt).endedAt;
}

bool
WindowProtocol::HaveAllEnded() const
{
    return std::ranges::all_of(m_notes, [](const auto& note) { return note.endedAt >= 0; });
}

/// When the first of what others have not taken yet happens to them.
int64_t
WindowProtocol::GetFirstArrival() const
{
    auto first = m_transport.GetFirstArrival();
    for (const auto& told : m_told)
    {
        for (const auto& notice : told)
        {
            first = std::min(first, notice.at);
        }
    }
    return first;
}

void
WindowProtocol::FillBatch(uint32_t part)
{
    auto& batch = m_batches[part];
    if (m_takeNotice)
    {
        AppendList(batch, std::span<const Notice>(m_told[part]));
        m_told[part].clear();
    }
    m_transport.Take(part, batch);
    m_counts.sentBytes += batch.size();
    m_counts.sentBatches += batch.empty() ? 0 : 1;
}

void
WindowProtocol::TakeBatch(BatchReader& batch)
{
    if (m_takeNotice)
    {
        const auto notices = batch.TakeView<Notice>();
        for (size_t i = 0; i < notices.GetSize(); ++i)
        {
            ScheduleNotice(notices[i]);
        }
    }
    m_transport.Put(batch);
}

/// One process alone has no event of its own for it.
void
WindowProtocol::ScheduleNotice(const Notice& notice)
{
    const auto delay = notice.at - m_simulator.Now().GetTimeStep();
    ScheduleInOrder(notice.order, TimeStep(static_cast<uint64_t>(delay)), [this, notice] {
        CountForeignEvents(1);
        m_takeNotice(notice);
    });
}

void
WindowProtocol::TellAll()
{
    // Others have not taken what was sent last either when they tell next what they have to do.
    const auto arrival = GetFirstArrival();
    const auto next = std::min(m_simulator.GetNextTime(), m_transport.GetNextStart());
    m_ownNotes.push_back(
        {.nextTime = std::min({next, arrival, std::exchange(m_lastArrival, arrival)}),
         .clock = m_clock,
         .endedAt = m_endedAt,
         .endCount = m_endCount,
         .isStopped = m_simulator.IsStopped() ? 1 : 0});
    for (uint32_t part = 0; part < m_batches.size(); ++part)
    {
        if (part != m_own)
        {
            FillBatch(part);
        }
    }
    m_link.Send(m_ownNotes.back(), m_batches);
}

void
WindowProtocol::HearAll()
{
    for (uint32_t part = 0; part < m_notes.size(); ++part)
    {
        if (part != m_own)
        {
            const auto since = GetWallNs();
            BatchReader batch(m_link.Receive(part, m_notes[part]));
            m_counts.waitNs += GetWallNs() - since;
            TakeBatch(batch);
        }
    }
    m_notes[m_own] = m_ownNotes.front();
    m_ownNotes.pop_front();
}

} // namespace ns3::gradsync
