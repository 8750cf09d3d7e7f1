// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/iteration-skip.h"

#include "ns3/event-impl.h"
#include "ns3/event-order.h"
#include "ns3/log.h"
#include "ns3/planned-run.h"
#include "ns3/radix-scheduler.h"
#include "ns3/simulator.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncIterationSkip");

namespace
{

/// Iterations of a period at most.
constexpr size_t MAX_MOMENTS = 8;

/// After so many looks in vain a run is taken for one that does not repeat.
constexpr uint32_t MAX_LOOKS = 32;

/// Words of a state at most, 8 MB: of more there is little hope that they repeat.
constexpr size_t MAX_WORDS = 1 << 20;

/// Events of ports are known by the ports' state, timers' not needed; nobody knows any other.
void
RefuseOtherEvents(StateWords& words)
{
    const bool isKnown = RadixScheduler::VisitAllPending([&words](const Scheduler::Event& event) {
        if (!EventOrder::IsOfPort(event.key.m_context) || event.impl->IsCancelled())
        {
            words.Refuse("events are pending that are not the fabric's");
        }
    });
    if (!isKnown)
    {
        words.Refuse("the scheduler does not tell what is pending");
    }
}

template <typename T>
void
AddRepeats(T& value, uint64_t count, const T& before, const T& after)
{
    value += count * (after - before);
}

void
AddRepeats(Time& value, uint64_t count, const Time& before, const Time& after)
{
    value += static_cast<int64_t>(count) * (after - before);
}

} // namespace

IterationSkip::IterationSkip(const ResolvedRun& run,
                             const Ptr<ExchangeEngine>& engine,
                             const Ptr<Transport>& transport,
                             const Recorder& recorder,
                             TrainingRecorder& trainings,
                             bool skips)
    : m_engine(engine),
      m_transport(transport),
      m_recorder(recorder),
      m_trainings(trainings),
      m_skips(skips),
      m_recordsLinks(run.recordLinks)
{
    if (IsOneJobAlone(run))
    {
        if (skips)
        {
            m_trainings.KeepRuns();
        }
        m_engine->SetBoundaryHandler(
            [this](const IterationBoundary& boundary) { return OnBoundary(boundary); });
    }
}

IterationSkip::~IterationSkip()
{
    m_engine->SetBoundaryHandler({});
}

uint32_t
IterationSkip::GetCount() const
{
    return m_period ? m_period->count * m_period->GetIterations() : 0;
}

uint32_t
IterationSkip::OnBoundary(const IterationBoundary& boundary)
{
    if (!m_skips || m_period || boundary.left == 0 || m_looks == MAX_LOOKS)
    {
        return 0;
    }
    ++m_looks;
    StateWords words(Simulator::Now().GetTimeStep());
    if (!Look(words))
    {
        m_moments.clear();
        return 0;
    }
    auto moment = Describe(boundary.done);
    const auto same = std::ranges::find(m_moments, words.Get(), &Moment::state);
    if (same != m_moments.end())
    {
        return Repeat(*same, moment, boundary.left, words.GetLargestGrowing());
    }
    moment.state = words.Get();
    Keep(std::move(moment));
    return 0;
}

/// \returns whether all that decides is known
bool
IterationSkip::Look(StateWords& words)
{
    RefuseOtherEvents(words);
    m_engine->AddState(words);
    if (words.GetRefusal().empty())
    {
        m_transport->AddState(words);
    }
    if (words.Get().size() > MAX_WORDS)
    {
        words.Refuse("there is too much under way");
    }
    if (words.GetRefusal().empty())
    {
        return true;
    }
    NS_LOG_INFO("no iteration is left out: " << words.GetRefusal());
    return false;
}

/// But for the state.
IterationSkip::Moment
IterationSkip::Describe(uint32_t done) const
{
    return {.iteration = done,
            .at = Simulator::Now(),
            .events = Simulator::GetEventCount(),
            .statistics = m_transport->GetStatistics(),
            .links =
                m_recordsLinks ? m_transport->GetLinkStatistics() : std::vector<LinkStatistics>{},
            .iterations = m_recorder.GetIterations().size(),
            .computations = m_recorder.GetComputations().size(),
            .transfers = m_recorder.GetTransfers().size(),
            .work = m_recorder.GetWork().size(),
            .runs = m_trainings.CountRuns(),
            .state = {}};
}

/// \param left iterations \param growing the largest of the numbers that grow on \returns how many
/// iterations are left out
uint32_t
IterationSkip::Repeat(const Moment& begin, const Moment& end, uint32_t left, uint32_t growing)
{
    const auto length = end.iteration - begin.iteration;
    const auto count = left / length;
    // Neither time nor sequence numbers may come to their end in what is left out: that would
    // change it. They grow by no more in a period than they have up to now.
    const auto latest = static_cast<double>((end.at - begin.at).GetTimeStep()) * (count + 1.0) +
                        static_cast<double>(end.at.GetTimeStep());
    const bool isInRange = latest < static_cast<double>(LAST_TIME_STEP) / 2 &&
                           (count + uint64_t{1}) * growing < UINT32_MAX;
    if (count == 0 || !isInRange)
    {
        return 0;
    }
    m_period = {begin, end, count};
    m_trainings.Repeat(begin.runs, count, m_period->GetLength(), length);
    m_moments.clear();
    return count * length;
}

void
IterationSkip::Keep(Moment moment)
{
    size_t words = moment.state.size();
    for (const auto& other : m_moments)
    {
        words += other.state.size();
    }
    m_moments.push_back(std::move(moment));
    while (m_moments.size() > MAX_MOMENTS || (words > 4 * MAX_WORDS && m_moments.size() > 1))
    {
        words -= m_moments.front().state.size();
        m_moments.pop_front();
    }
}

/// Copies the records [begin, end) of the period as often as it was left out, and moves those that
/// follow. \param shift calls shift(record, time, iterations)
template <typename Record, typename Shift>
void
IterationSkip::ExtendBy(std::vector<Record>& records,
                        size_t begin,
                        size_t end,
                        const Shift& shift) const
{
    std::vector<Record> extended;
    extended.reserve(records.size() + m_period->count * (end - begin));
    extended.assign(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(end));
    for (uint32_t copy = 1; copy <= m_period->count; ++copy)
    {
        for (size_t i = begin; i < end; ++i)
        {
            extended.push_back(records[i]);
            shift(extended.back(),
                  static_cast<int64_t>(copy) * m_period->GetLength(),
                  copy * m_period->GetIterations());
        }
    }
    for (size_t i = end; i < records.size(); ++i)
    {
        extended.push_back(records[i]);
        shift(extended.back(),
              static_cast<int64_t>(m_period->count) * m_period->GetLength(),
              GetCount());
    }
    records.swap(extended);
}

void
IterationSkip::ExtendRecords(RunResult& result) const
{
    if (!m_period)
    {
        return;
    }
    const auto& [begin, end, count] = *m_period;
    ExtendBy(result.iterations,
             begin.iterations,
             end.iterations,
             [](IterationRecord& record, const Time& by, uint32_t iterations) {
                 record.start += by;
                 record.exchangeStart += by;
                 record.end += by;
                 record.iteration += iterations;
             });
    const auto shift = [](auto& record, const Time& by, uint32_t iterations) {
        record.start += by;
        record.end += by;
        record.iteration += iterations;
    };
    ExtendBy(result.computations, begin.computations, end.computations, shift);
    ExtendBy(result.transfers, begin.transfers, end.transfers, shift);
    ExtendBy(result.work, begin.work, end.work, shift);
}

void
IterationSkip::Extend(TransportStatistics& statistics) const
{
    if (!m_period)
    {
        return;
    }
    const auto& before = m_period->begin.statistics;
    const auto& after = m_period->end.statistics;
    const auto extend = [&](auto member) {
        AddRepeats(statistics.*member, m_period->count, before.*member, after.*member);
    };
    extend(&TransportStatistics::goodputBytes);
    extend(&TransportStatistics::lostBytes);
    extend(&TransportStatistics::wireBytes);
    extend(&TransportStatistics::dataPacketHops);
    extend(&TransportStatistics::controlPacketHops);
    extend(&TransportStatistics::droppedPackets);
    extend(&TransportStatistics::ecnMarkedPackets);
    extend(&TransportStatistics::retransmittedPackets);
    extend(&TransportStatistics::retransmittedBytes);
    extend(&TransportStatistics::timerLooks);
    extend(&TransportStatistics::savedEvents);
    extend(&TransportStatistics::switchPackets);
    extend(&TransportStatistics::switchRounds);
    extend(&TransportStatistics::pfcPause);
}

/// The longest queue of a period is no longer than the longest so far.
void
IterationSkip::Extend(std::vector<LinkStatistics>& links) const
{
    if (!m_period)
    {
        return;
    }
    for (size_t i = 0; i < links.size(); ++i)
    {
        const auto& before = m_period->begin.links[i];
        const auto& after = m_period->end.links[i];
        const auto extend = [&](auto member) {
            AddRepeats(links[i].*member, m_period->count, before.*member, after.*member);
        };
        extend(&LinkStatistics::packets);
        extend(&LinkStatistics::payloadBytes);
        extend(&LinkStatistics::wireBytes);
        extend(&LinkStatistics::droppedPackets);
        extend(&LinkStatistics::ecnMarkedPackets);
        extend(&LinkStatistics::pfcPause);
        extend(&LinkStatistics::pfcPauses);
        extend(&LinkStatistics::blockedBytes);
    }
}

uint64_t
IterationSkip::ExtendEvents(uint64_t events) const
{
    return m_period ? events + m_period->count * (m_period->end.events - m_period->begin.events)
                    : events;
}

} // namespace ns3::gradsync
