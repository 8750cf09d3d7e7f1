// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/run-watch.h"

#include "ns3/event-impl.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <typeinfo>

namespace ns3::gradsync
{

namespace
{

/// Instants between two looks at least: looks cost nothing beside so many events.
constexpr uint64_t INSTANTS = 1 << 16;

/// Likewise for each direction of a link, as a look adds up what each has carried.
constexpr uint64_t INSTANTS_PER_DIRECTION = 16;

/// When the jobs are settled, nothing but what is on its way is waited for.
constexpr uint64_t SETTLED_INSTANTS = 256;

/// Uids wrap round.
bool
IsNewer(uint32_t uid, uint32_t than)
{
    return static_cast<int32_t>(uid - than) > 0;
}

bool
IsLive(const Scheduler::Event& event)
{
    return !event.impl->IsCancelled();
}

/// "ns3::PieQueueDisc" for an event that calls one of its methods.
std::string
NameTimerTarget(const EventImpl& event)
{
    const auto* mangled = typeid(event).name();
    const std::unique_ptr<char, decltype(&std::free)> demangled(
        abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr),
        &std::free);
    std::string name = demangled ? demangled.get() : mangled;
    // ns-3's MakeEvent has the type of the method among its template arguments.
    const auto end = name.find("::*)");
    if (end == std::string::npos)
    {
        return name;
    }
    const auto begin = name.find_last_of(" (<,", end) + 1;
    return name.substr(begin, end - begin);
}

} // namespace

RunWatch::RunWatch(const Ptr<ExchangeEngine>& engine,
                   const Ptr<Transport>& transport,
                   const Ptr<FaultInjector>& injector,
                   const Ptr<TrafficGenerator>& generator)
    : m_engine(engine),
      m_transport(transport),
      m_injector(injector),
      m_generator(generator),
      m_instants(std::max<uint64_t>(INSTANTS,
                                    INSTANTS_PER_DIRECTION * transport->GetLinkStatistics().size()))
{
    m_engine->TraceConnectWithoutContext("Iteration", MakeCallback(&RunWatch::OnIteration, this));
    m_injector->TraceConnectWithoutContext("Fault", MakeCallback(&RunWatch::OnFault, this));
    m_generator->TraceConnectWithoutContext("Flow", MakeCallback(&RunWatch::OnFlow, this));
    RadixScheduler::SetWatch([this](const RadixScheduler& pending) { return Look(pending); },
                             m_instants);
}

RunWatch::~RunWatch()
{
    RadixScheduler::SetWatch({});
    m_engine->TraceDisconnectWithoutContext("Iteration",
                                            MakeCallback(&RunWatch::OnIteration, this));
    m_injector->TraceDisconnectWithoutContext("Fault", MakeCallback(&RunWatch::OnFault, this));
    m_generator->TraceDisconnectWithoutContext("Flow", MakeCallback(&RunWatch::OnFlow, this));
}

Time
RunWatch::GetEnd() const
{
    return m_stopped ? m_since : Simulator::Now();
}

std::string
RunWatch::DescribeTimers() const
{
    return m_stopped ? fmt::format("; nothing but timers was left: {}", fmt::join(m_timers, ", "))
                     : "";
}

uint64_t
RunWatch::Look(const RadixScheduler& pending)
{
    const auto progress = CountProgress();
    if (progress != m_progress)
    {
        Remember(pending, progress);
    }
    else if (!HasEarlier(pending))
    {
        Stop(pending);
    }
    return m_engine->IsSettled() ? SETTLED_INSTANTS : m_instants;
}

RunWatch::Progress
RunWatch::CountProgress() const
{
    const auto statistics = m_transport->GetStatistics();
    return {m_engine->CountDoneOperations(),
            statistics.goodputBytes,
            statistics.dataPacketHops,
            statistics.controlPacketHops,
            statistics.droppedPackets,
            m_reports};
}

void
RunWatch::Remember(const RadixScheduler& pending, const Progress& progress)
{
    m_progress = progress;
    m_since = Simulator::Now();
    bool isFirst = true;
    pending.VisitPending([&](const Scheduler::Event& event) {
        if (isFirst || IsNewer(event.key.m_uid, m_newest))
        {
            m_newest = event.key.m_uid;
            isFirst = false;
        }
    });
}

bool
RunWatch::HasEarlier(const RadixScheduler& pending) const
{
    bool found = false;
    pending.VisitPending([&](const Scheduler::Event& event) {
        found = found || (IsLive(event) && !IsNewer(event.key.m_uid, m_newest));
    });
    return found;
}

void
RunWatch::Stop(const RadixScheduler& pending)
{
    pending.VisitPending([&](const Scheduler::Event& event) {
        if (IsLive(event))
        {
            m_timers.insert(NameTimerTarget(*event.impl));
        }
    });
    // Cancelled events alone are no reason: ns-3 is about to end by itself.
    if (!m_timers.empty())
    {
        m_stopped = true;
        Simulator::Stop();
    }
}

void
RunWatch::OnIteration(const IterationRecord& /* record */)
{
    ++m_reports;
    if (m_engine->IsSettled())
    {
        RadixScheduler::SetWatch([this](const RadixScheduler& pending) { return Look(pending); },
                                 SETTLED_INSTANTS);
    }
}

void
RunWatch::OnFault(const FaultRecord& /* record */)
{
    ++m_reports;
}

void
RunWatch::OnFlow(const FlowRecord& /* record */)
{
    ++m_reports;
}

} // namespace ns3::gradsync
