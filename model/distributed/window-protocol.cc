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
      m_ends(m_own, {}, {}, 0, false),
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

bool
WindowProtocol::AreAllEndsTold() const
{
    return m_tellsAllEnds;
}

void
WindowProtocol::Tell(uint32_t part, const Notice& notice)
{
    m_told[part].push_back(notice);
}

void
WindowProtocol::UseJobs(std::span<const SharedJob> jobs, bool tellsAll)
{
    m_tellsAllEnds = tellsAll;
    m_ends = PartEnds(m_own, jobs, m_partOf, m_link.GetCount(), tellsAll);
    m_underWay.resize(jobs.size());
    m_endOrders.resize(jobs.size());
}

void
WindowProtocol::OnPartBegun(uint32_t job, std::function<void()> onTimeout)
{
    m_ends.Begin(job, std::move(onTimeout));
}

void
WindowProtocol::OnPartEnded(uint32_t job, std::function<void()> goOn)
{
    m_ends.End(job, m_simulator.Now().GetTimeStep(), m_simulator.GetOrder(), std::move(goOn));
    m_simulator.Pause();
}

void
WindowProtocol::OnSharedEvent(uint32_t job, uint32_t owner)
{
    constexpr uint32_t WORD_BITS = 32;
    m_sharedEvents.push_back(
        {.at = m_simulator.Now().GetTimeStep(), .owner = uint64_t{job} << WORD_BITS | owner});
}

void
WindowProtocol::OnForeignEvent()
{
    CountForeignEvents(1);
}

std::vector<WindowProtocol::SharedEvent>
WindowProtocol::GetSharedEvents() const
{
    auto events = m_sharedEvents;
    if (!std::ranges::is_sorted(events)) // several owners at one instant
    {
        std::ranges::sort(events);
    }
    return events;
}

void
WindowProtocol::OnUnderWay(uint32_t job, int32_t change)
{
    const auto now = m_simulator.Now().GetTimeStep();
    auto& underWay = m_underWay[job];
    if (underWay.empty() || underWay.back().at != now)
    {
        underWay.push_back({.at = now, .change = 0});
    }
    underWay.back().change += change;
}

uint64_t
WindowProtocol::CountOwnEvents() const
{
    return m_simulator.GetEventCount() - m_sharedEvents.size() - m_foreignEvents;
}

void
WindowProtocol::Run()
{
    // Notices come to hosts, at once.
    m_switches = m_takeNotice ? nullptr : m_transport.HoldSwitches(m_lookahead);
    TellAll();
    do
    {
        HearAll();
    } while (RunWindow());
    NS_LOG_INFO("process " << m_own << ": " << CountOwnEvents() << " events of its own in "
                           << m_counts.windows << " windows, in " << m_counts.aheadWindows
                           << " of them switches first, " << m_counts.sentBatches << " batches of "
                           << m_counts.sentBytes << " bytes sent, "
                           << static_cast<double>(m_counts.waitNs) * 1e-9
                           << " s of waiting for others");
}

/// By what all have told in the last one. \returns false when nothing is left to happen, and
/// nothing was told
bool
WindowProtocol::RunWindow()
{
    m_begin = ScheduleNextIterations();
    FailTimedOut();
    if (const auto end = m_ends.GetLastFailure())
    {
        RunTo({*end, false});
        m_simulator.AdvanceTo(*end);
        return false;
    }
    const auto next = GetNextTime();
    const bool isStopped =
        std::ranges::any_of(m_notes, [](const auto& note) { return note.isStopped != 0; });
    if (next > LAST_TIME_STEP || isStopped)
    {
        return false;
    }
    ++m_counts.windows;
    m_end = AddTimeSteps(next, m_lookahead);
    const auto bound = FindBound(next);
    if (AreSwitchesHeld())
    {
        ++m_counts.aheadWindows;
        const auto ahead = RunSwitches(bound);
        TellAll();
        RunTo(ahead);
    }
    else
    {
        RunTo(bound);
        TellAll();
    }
    return true;
}

/// What watches the network as an exchange begins lets them go.
bool
WindowProtocol::AreSwitchesHeld() const
{
    return m_switches && !m_switches->IsDissolved();
}

/// As far as hosts cannot send them anything more. \returns how far hosts may then go
RunBound
WindowProtocol::RunSwitches(const RunBound& bound)
{
    const auto first = std::min({m_simulator.GetNextTime(), m_switches->GetNext(), bound.time});
    const auto quiet = std::max(m_clock, first);
    const auto end = std::min(m_end, AddTimeSteps(quiet, m_switches->GetLookahead()));
    m_simulator.AdvanceTo(quiet); // what is asked of hosts meanwhile goes by their clock
    m_switches->RunHeld(quiet, end);
    m_transport.Depart(end - 1);
    return std::min(bound, {end - 1, true});
}

/// Of the jobs of which all know that all parts have ended, which they do in the same window.
/// \returns where the first begins
int64_t
WindowProtocol::ScheduleNextIterations()
{
    auto first = INT64_MAX;
    for (auto& iteration : m_ends.TakeEnded())
    {
        first = std::min(first, iteration.end);
        ScheduleIteration(std::move(iteration));
    }
    return first;
}

/// What is due at the end of an iteration, if this process takes part. What else happens at that
/// instant at ranks and links comes before.
void
WindowProtocol::ScheduleIteration(PartEnds::Iteration iteration)
{
    if (!iteration.goOn)
    {
        return;
    }
    const auto delay = iteration.end - m_simulator.Now().GetTimeStep();
    const auto order = EventOrder::OfEnd(iteration.job);
    ScheduleInOrder(order,
                    TimeStep(static_cast<uint64_t>(delay)),
                    [this, own = std::move(iteration)] {
                        CountForeignEvents(1); // one process alone has none of its own
                        if (!own.isTimedOut)
                        {
                            m_endOrders[own.job].push_back(own.order);
                        }
                        own.goOn();
                    });
}

/// Jobs whose iterations do not end in time, which all know in the same window.
void
WindowProtocol::FailTimedOut()
{
    for (auto& iteration : m_ends.TakeTimedOut(m_notes, m_begin))
    {
        ScheduleIteration(std::move(iteration));
    }
}

/// How far this window goes. \param next as GetNextTime
RunBound
WindowProtocol::FindBound(int64_t next) const
{
    const RunBound end{m_end - 1, true};
    const auto arrival = std::ranges::min(m_notes, {}, &ProcessNote::arrival).arrival;
    const auto sent = std::min({arrival, m_begin, AddTimeSteps(next, m_lookahead)});
    return std::min(end, m_ends.FindBound(m_notes, sent).value_or(end));
}

/// All up to there, or up to the end of a part of this process.
void
WindowProtocol::RunTo(const RunBound& bound)
{
    const auto first = bound.isWhole ? bound.time + 1 : bound.time;
    m_transport.SetBound(first);
    m_simulator.RunUntil(first);
    if (!bound.isWhole && !m_simulator.IsPaused())
    {
        m_transport.SetBound(bound.time + 1);
        m_simulator.RunOrdered(bound.time);
    }
    if (m_simulator.IsStopped())
    {
        return;
    }
    auto end = bound.isWhole ? bound.time + 1 : bound.time;
    if (m_simulator.IsPaused())
    {
        end = m_simulator.Now().GetTimeStep();
    }
    if (end > m_clock)
    {
        m_simulator.AdvanceTo(std::max(m_simulator.Now().GetTimeStep(), end - 1));
        m_clock = end;
        if (!AreSwitchesHeld())
        {
            m_transport.Depart(end - 1);
        }
    }
}

/// Of all processes, as far as they have told.
int64_t
WindowProtocol::GetNextTime() const
{
    const auto next = std::ranges::min(m_notes, {}, &ProcessNote::nextTime).nextTime;
    return std::min(next, m_begin);
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
WindowProtocol::FillBatch(uint32_t part, std::span<const PartEnd> ends)
{
    auto& batch = m_batches[part];
    for (const auto& end : ends)
    {
        AppendPlain(batch.GetOwn(), end);
    }
    if (m_takeNotice)
    {
        AppendList(batch.GetOwn(), std::span<const Notice>(m_told[part]));
        m_told[part].clear();
    }
    m_transport.Take(part, batch);
    m_counts.sentBytes += batch.GetSize();
    m_counts.sentBatches += batch.GetSize() == 0 ? 0 : 1;
}

void
WindowProtocol::TakeBatch(uint32_t part, BatchReader& batch)
{
    for (uint32_t i = 0; i < m_notes[part].endCount; ++i)
    {
        m_ends.Hear(part, batch.Take<PartEnd>());
    }
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
WindowProtocol::CallAt(const Time& at, std::function<void()> action)
{
    Simulator::Schedule(at - m_simulator.Now(), [this, action = std::move(action)] {
        CountForeignEvents(1);
        action();
    });
}

/// What this process has to do next, and what others have by what it sends.
ProcessNote
WindowProtocol::MakeNote() const
{
    const auto arrival = GetFirstArrival();
    const auto event = m_simulator.GetNextTime();
    const auto start = m_transport.GetNextStart();
    ProcessNote note{.nextTime = std::min({event, start, arrival}),
                     .nextEvent = event,
                     .arrival = arrival,
                     .clock = m_clock,
                     .endCount = 0,
                     .isOrdered = m_simulator.IsNextOrdered() ? uint16_t{1} : uint16_t{0},
                     .isStopped = m_simulator.IsStopped() ? uint16_t{1} : uint16_t{0}};
    if (AreSwitchesHeld())
    {
        // What hosts send comes to a switch first.
        const auto next = m_switches->GetNext();
        const auto sent = AddTimeSteps(event, m_switches->GetLookahead());
        note.nextTime = std::min({sent, next, start, arrival});
        note.isOrdered = next < event ? uint16_t{1} : note.isOrdered;
        note.nextEvent = std::min(event, next);
    }
    return note;
}

void
WindowProtocol::TellAll()
{
    m_ownNote = {.note = MakeNote(), .ends = m_ends.Take()};
    m_ownNote.note.endCount = static_cast<uint32_t>(m_ownNote.ends.size());
    for (uint32_t part = 0; part < m_batches.size(); ++part)
    {
        if (part != m_own)
        {
            FillBatch(part, m_ownNote.ends);
        }
    }
    m_link.Send(m_ownNote.note, m_batches);
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
            TakeBatch(part, batch);
        }
    }
    m_notes[m_own] = m_ownNote.note;
    for (const auto& end : m_ownNote.ends)
    {
        m_ends.Hear(m_own, end);
    }
}

} // namespace ns3::gradsync
