// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fault-injector.h"

#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/time-range.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/transport.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncFaultInjector");
NS_OBJECT_ENSURE_REGISTERED(FaultInjector);

namespace
{

constexpr int64_t DRAW_STREAM = 1 << 10; //!< random number streams of the draws, one a fault
constexpr int64_t SLOWDOWN_STREAM = int64_t{1} << 40; //!< of stragglers, one a fault and target
constexpr int64_t MAX_TARGETS = 1 << 24;

bool
ChangesRoutes(FaultKind kind)
{
    return kind == FaultKind::LinkDown || kind == FaultKind::SwitchDown ||
           kind == FaultKind::AggregatorDown;
}

} // namespace

TypeId
FaultInjector::GetTypeId()
{
    static TypeId tid = TypeId("ns3::gradsync::FaultInjector")
                            .SetParent<Object>()
                            .SetGroupName("GradSync")
                            .AddConstructor<FaultInjector>()
                            .AddAttribute("MaxBeginnings",
                                          "Beginnings of faults on a target after which it ends "
                                          "the simulation.",
                                          UintegerValue(MAX_FAULT_BEGINNINGS),
                                          MakeUintegerAccessor(&FaultInjector::m_maxBeginnings),
                                          MakeUintegerChecker<uint64_t>())
                            .AddTraceSource("Fault",
                                            "A fault takes hold of a target or lets go.",
                                            MakeTraceSourceAccessor(&FaultInjector::m_faultTrace),
                                            "ns3::gradsync::FaultInjector::FaultCallback");
    return tid;
}

FaultInjector::FaultInjector() = default;

FaultInjector::~FaultInjector()
{
    CancelEvent();
}

void
FaultInjector::DoDispose()
{
    CancelEvent();
    m_timeline.clear();
    m_condition.reset();
    if (m_engine)
    {
        m_engine->TraceDisconnectWithoutContext("Iteration",
                                                MakeCallback(&FaultInjector::OnIteration, this));
        m_engine->TraceDisconnectWithoutContext("Training",
                                                MakeCallback(&FaultInjector::OnTraining, this));
        m_engine = nullptr;
    }
    Object::DoDispose();
}

void
FaultInjector::CancelEvent()
{
    // Not EventId::Cancel, which makes a new simulator when the old one is destroyed already.
    if (auto* event = m_event.PeekEventImpl())
    {
        event->Cancel();
    }
}

void
FaultInjector::CheckSpec(const FaultSpec& fault) const
{
    const auto fail = [&fault](const std::string& problem) {
        throw std::invalid_argument(fmt::format("{}: {}", ToString(fault.kind), problem));
    };
    if (fault.pool.empty())
    {
        fail("there is nothing that it could happen to");
    }
    if (fault.random > fault.pool.size())
    {
        fail(fmt::format("cannot draw {} of {}", fault.random, fault.pool.size()));
    }
    if (fault.every.IsStrictlyPositive() && fault.duration > fault.every)
    {
        fail("it would begin again before it ends");
    }
    if (fault.every.IsZero() && fault.count > 1)
    {
        fail("it cannot happen more than once without a time between");
    }
}

void
FaultInjector::Install(std::vector<FaultSpec> faults,
                       std::shared_ptr<const Topology> topology,
                       const Ptr<Transport>& transport,
                       const Ptr<ExchangeEngine>& engine)
{
    m_faults = std::move(faults);
    m_topology = std::move(topology);
    m_condition = std::make_unique<NetworkCondition>(m_topology, transport);
    m_engine = engine;
    if (!m_faults.empty())
    {
        transport->KeepInStep();
    }
    if (m_engine)
    {
        m_engine->TraceConnectWithoutContext("Iteration",
                                             MakeCallback(&FaultInjector::OnIteration, this));
        // One of several processes has no iterations of jobs that train.
        m_engine->TraceConnectWithoutContext("Training",
                                             MakeCallback(&FaultInjector::OnTraining, this));
    }
    for (uint32_t i = 0; i < m_faults.size(); ++i)
    {
        CheckSpec(m_faults[i]);
        InstallFault(i);
    }
    ScheduleNext();
}

void
FaultInjector::InstallFault(uint32_t index)
{
    const auto& fault = m_faults[index];
    auto& random = m_random.emplace_back(CreateObject<UniformRandomVariable>());
    random->SetStream(DRAW_STREAM + index);
    if (fault.meanUp.IsZero())
    {
        Add(fault.start, {index, Step::Begin, {}, 0});
        return;
    }
    for (const auto target : fault.pool)
    {
        Add(AddTimes(fault.start, DrawTime(index, fault.meanUp)),
            {index, Step::Begin, {target}, 0});
    }
}

void
FaultInjector::Add(const Time& time, Entry entry)
{
    if (time.GetTimeStep() <= LAST_TIME_STEP) // else it never comes
    {
        m_timeline[{time, entry.step}].push_back(std::move(entry));
    }
}

void
FaultInjector::ScheduleNext()
{
    if (!m_timeline.empty())
    {
        const auto time = m_timeline.begin()->first.first;
        m_event = Simulator::Schedule(time - Simulator::Now(), &FaultInjector::Advance, this);
        ++m_eventCount;
    }
}

void
FaultInjector::Advance()
{
    if (m_engine && m_engine->IsSettled())
    {
        Finish();
        return;
    }
    const auto now = Simulator::Now();
    while (!m_timeline.empty() && m_timeline.begin()->first.first <= now)
    {
        const auto entries = m_timeline.extract(m_timeline.begin());
        for (const auto& entry : entries.mapped())
        {
            Do(entry);
        }
    }
    if (m_beginnings > m_maxBeginnings)
    {
        GiveUp();
        return;
    }
    m_condition->Apply();
    ScheduleNext();
}

void
FaultInjector::Do(const Entry& entry)
{
    if (entry.step == Step::Begin)
    {
        Begin(entry);
        return;
    }
    const auto& fault = m_faults[entry.fault];
    for (const auto target : entry.targets)
    {
        switch (entry.step)
        {
        case Step::End:
            Hold(entry.fault, target, false);
            break;
        case Step::Exclude:
            m_condition->Exclude(fault, target);
            break;
        case Step::Include:
            m_condition->Include(fault, target);
            break;
        case Step::Notice:
            if (m_engine)
            {
                m_engine->NoticeCrash(target);
            }
            break;
        case Step::Begin:
            break;
        }
    }
}

void
FaultInjector::Hold(uint32_t fault, uint32_t target, bool begins)
{
    const auto& spec = m_faults[fault];
    if (begins)
    {
        ++m_beginnings;
        m_active.emplace(fault, target);
        m_condition->Begin(spec, target);
    }
    else
    {
        m_active.erase({fault, target});
        m_condition->End(spec, target);
    }
    NS_LOG_LOGIC(ToString(spec.kind) << " " << NameTarget(*m_topology, spec.kind, target)
                                     << (begins ? " begins" : " ends"));
    if (spec.kind == FaultKind::Straggler)
    {
        UpdateSlowdown(target);
    }
    else if (spec.kind == FaultKind::HostCrash)
    {
        UpdateCrash(target, begins);
    }
    m_faultTrace({Simulator::Now(), fault, spec.kind, target, begins});
}

void
FaultInjector::Begin(const Entry& entry)
{
    const auto now = Simulator::Now();
    const auto& fault = m_faults[entry.fault];
    if (fault.meanUp.IsStrictlyPositive())
    {
        BeginDrawn(entry);
        return;
    }
    Schedule(entry.fault, Draw(entry.fault), fault.duration);
    const auto next = entry.occurrence + 1;
    if (fault.every.IsStrictlyPositive() && (fault.count == 0 || next < fault.count))
    {
        Add(AddTimes(now, fault.every), {entry.fault, Step::Begin, {}, next});
    }
}

void
FaultInjector::BeginDrawn(const Entry& entry)
{
    const auto& fault = m_faults[entry.fault];
    const auto repair = DrawTime(entry.fault, fault.meanRepair);
    Schedule(entry.fault, entry.targets, repair);
    if (repair.IsStrictlyPositive())
    {
        const auto repaired = AddTimes(Simulator::Now(), repair);
        const auto next = AddTimes(repaired, DrawTime(entry.fault, fault.meanUp));
        Add(next, {entry.fault, Step::Begin, entry.targets, entry.occurrence + 1});
    }
}

void
FaultInjector::Schedule(uint32_t index, const std::vector<uint32_t>& targets, const Time& duration)
{
    const auto now = Simulator::Now();
    const auto& fault = m_faults[index];
    for (const auto target : targets)
    {
        Hold(index, target, true);
    }
    const bool ends = duration.IsStrictlyPositive();
    const auto end = AddTimes(now, duration);
    const auto noticed = AddTimes(now, fault.detectionDelay);
    if (ends)
    {
        Add(end, {index, Step::End, targets, 0});
    }
    if (fault.kind == FaultKind::HostCrash)
    {
        Add(noticed, {index, Step::Notice, targets, 0});
    }
    if (ChangesRoutes(fault.kind))
    {
        Add(noticed, {index, Step::Exclude, targets, 0});
        if (ends)
        {
            Add(AddTimes(end, fault.detectionDelay), {index, Step::Include, targets, 0});
        }
    }
}

void
FaultInjector::UpdateSlowdown(uint32_t endpoint)
{
    if (!m_engine)
    {
        return;
    }
    std::vector<const SlowdownSource*> sources;
    for (const auto& [fault, target] : m_active)
    {
        if (m_faults[fault].kind != FaultKind::Straggler || target != endpoint)
        {
            continue;
        }
        const auto stream = SLOWDOWN_STREAM + fault * MAX_TARGETS + target;
        const auto [source, isNew] =
            m_slowdowns.try_emplace({fault, target}, m_faults[fault].slowdown, stream);
        sources.push_back(&source->second);
    }
    if (sources.empty())
    {
        m_engine->SetSlowdown(endpoint, {});
        return;
    }
    m_engine->SetSlowdown(endpoint, [sources] {
        double factor = 1.0;
        for (const auto* source : sources)
        {
            factor *= source->Draw();
        }
        return factor;
    });
}

void
FaultInjector::UpdateCrash(uint32_t endpoint, bool begins)
{
    if (!m_engine)
    {
        return;
    }
    auto& crashes = m_crashes[endpoint];
    if (begins && crashes++ == 0)
    {
        m_engine->CrashEndpoint(endpoint);
    }
    else if (!begins && --crashes == 0)
    {
        m_engine->RestartEndpoint(endpoint);
    }
}

void
FaultInjector::OnIteration(const IterationRecord& /* record */)
{
    FinishIfSettled();
}

void
FaultInjector::OnTraining(const TrainingRecord& /* record */)
{
    FinishIfSettled();
}

void
FaultInjector::FinishIfSettled()
{
    if (m_engine->IsSettled())
    {
        Finish();
    }
}

void
FaultInjector::Finish()
{
    CancelEvent();
    m_timeline.clear();
    // Background traffic would go on for ever.
    for (const auto& [fault, target] : m_active)
    {
        if (m_faults[fault].kind == FaultKind::Flood)
        {
            m_condition->End(m_faults[fault], target);
        }
    }
    std::erase_if(m_active, [this](const Holding& holding) {
        return m_faults[holding.first].kind == FaultKind::Flood;
    });
    m_condition->Apply();
}

void
FaultInjector::GiveUp()
{
    m_problem = fmt::format("ended after more than {} beginnings of faults", m_maxBeginnings);
    Finish();
    Simulator::Stop();
}

Time
FaultInjector::DrawTime(uint32_t fault, const Time& mean)
{
    if (mean.IsZero())
    {
        return mean;
    }
    // The inverse of the exponential distribution; at least one step, so that it is over one day.
    const auto steps =
        -std::log(1.0 - m_random[fault]->GetValue()) * static_cast<double>(mean.GetTimeStep());
    return TimeStep(static_cast<uint64_t>(std::max<int64_t>(ToTimeSteps(steps), 1)));
}

std::vector<uint32_t>
FaultInjector::Draw(uint32_t fault)
{
    auto targets = m_faults[fault].pool;
    const auto wanted = m_faults[fault].random;
    if (wanted == 0)
    {
        return targets;
    }
    // The first steps of Fisher and Yates' shuffle.
    for (uint32_t i = 0; i < wanted; ++i)
    {
        const auto other =
            m_random[fault]->GetInteger(i, static_cast<uint32_t>(targets.size()) - 1);
        std::swap(targets[i], targets[other]);
    }
    targets.resize(wanted);
    std::sort(targets.begin(), targets.end());
    return targets;
}

std::vector<std::string>
FaultInjector::DescribeActive() const
{
    std::vector<std::string> texts;
    for (const auto& [fault, target] : m_active)
    {
        const auto kind = m_faults[fault].kind;
        texts.push_back(
            fmt::format("{} {}", ToString(kind), NameTarget(*m_topology, kind, target)));
    }
    return texts;
}

std::string
NameTarget(const Topology& topology, FaultKind kind, uint32_t target)
{
    const auto nodes = topology.GetNodes();
    switch (GetTarget(kind))
    {
    case FaultTarget::Endpoint:
        return nodes[topology.GetEndpoints()[target]].name;
    case FaultTarget::Link: {
        const auto& link = topology.GetLinks()[target];
        return fmt::format("{}-{}", nodes[link.a].name, nodes[link.b].name);
    }
    case FaultTarget::Node:
        break;
    }
    return nodes[target].name;
}

} // namespace ns3::gradsync
