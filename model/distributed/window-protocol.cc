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
      m_batches(link.GetCount()),
      m_received(link.GetCount())
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
    m_isBehind = true;
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
    m_workSince = GetWallNs();
    Exchange();
    while (RunWindow())
    {
    }
    NS_LOG_INFO("process " << m_own << ": " << CountOwnEvents() << " events of its own in "
                           << m_counts.windows << " windows, " << m_counts.exchanges
                           << " exchanges, " << m_counts.sentBatches << " batches of "
                           << m_counts.sentBytes << " bytes sent; "
                           << static_cast<double>(m_counts.workNs) * 1e-9
                           << " s between exchanges, of whoever had most before each "
                           << static_cast<double>(m_counts.longestNs) * 1e-9 << " s");
}

/// \returns false when nothing is left to happen
bool
WindowProtocol::RunWindow()
{
    const auto next = std::ranges::min(m_notes, {}, &ProcessNote::nextTime).nextTime;
    const bool isStopped = std::ranges::any_of(m_notes, &ProcessNote::isStopped);
    if (next > LAST_TIME_STEP || isStopped)
    {
        return false;
    }
    ++m_counts.windows;
    const auto end = AddTimeSteps(next, m_lookahead);
    if (m_goOn)
    {
        m_isBehind = true;
    }
    else
    {
        RunTo(end);
    }
    Exchange();
    while (IsAnyBehind())
    {
        CatchUp(end);
        Exchange();
    }
    return true;
}

/// All that is earlier than `end`, or up to the end of this process's part.
void
WindowProtocol::RunTo(int64_t end)
{
    m_simulator.RunUntil(end);
    if (!m_isBehind && !m_simulator.IsStopped())
    {
        m_simulator.AdvanceTo(end - 1);
        m_transport.Depart(end - 1);
    }
}

/// Those that have not run the window do so: those that wait, or, if nobody else is at work on the
/// iteration, all of them begin the next one first.
void
WindowProtocol::CatchUp(int64_t end)
{
    if (!HaveAllEnded())
    {
        if (m_isBehind)
        {
            m_isBehind = false;
            RunTo(end);
        }
        return;
    }
    const auto last = std::ranges::max(m_notes, {}, &ProcessNote::endedAt).endedAt;
    m_simulator.RunUntil(last + 1); // what else happens at that instant comes first
    m_simulator.AdvanceTo(last);
    m_endedAt = -1;
    m_isBehind = false;
    std::exchange(m_goOn, {})();
    if (!m_goOn)
    {
        RunTo(end);
    }
}

bool
WindowProtocol::IsAnyBehind() const
{
    return std::ranges::any_of(m_notes, &ProcessNote::isBehind);
}

bool
WindowProtocol::HaveAllEnded() const
{
    return std::ranges::all_of(m_notes, [](const auto& note) { return note.endedAt >= 0; });
}

/// Of what happens next in this process, or in others as far as it has not handed it to them.
int64_t
WindowProtocol::GetNextTime() const
{
    auto next = std::min(m_simulator.GetNextTime(), m_transport.GetNextTime());
    for (const auto& told : m_told)
    {
        for (const auto& notice : told)
        {
            next = std::min(next, notice.at);
        }
    }
    return next;
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
WindowProtocol::TakeBatch(const ByteBatch& received)
{
    BatchReader batch(received);
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
WindowProtocol::Exchange()
{
    ProcessNote own{.nextTime = GetNextTime(),
                    .endedAt = m_endedAt,
                    .isBehind = m_isBehind ? 1 : 0,
                    .isStopped = m_simulator.IsStopped() ? 1 : 0,
                    .workNs = 0}; // not known yet
    for (uint32_t part = 0; part < m_batches.size(); ++part)
    {
        if (part != m_own)
        {
            FillBatch(part);
        }
    }
    own.workNs = GetWallNs() - m_workSince;
    m_link.Exchange(own, m_batches, m_notes, m_received);
    m_workSince = GetWallNs();
    ++m_counts.exchanges;
    m_counts.workNs += own.workNs;
    m_counts.longestNs += std::ranges::max(m_notes, {}, &ProcessNote::workNs).workNs;
    for (uint32_t part = 0; part < m_received.size(); ++part)
    {
        if (part != m_own)
        {
            TakeBatch(m_received[part]);
        }
    }
}

} // namespace ns3::gradsync
