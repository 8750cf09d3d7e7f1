// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fault-injector.h"

#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncFaultInjector");
NS_OBJECT_ENSURE_REGISTERED(FaultInjector);

namespace
{

constexpr int64_t DRAW_STREAM = 1 << 10; //!< random number streams of the draws, one a fault

bool
ChangesRoutes(FaultKind kind)
{
    return kind == FaultKind::LinkDown || kind == FaultKind::SwitchDown;
}

} // namespace

TypeId
FaultInjector::GetTypeId()
{
    static TypeId tid = TypeId("ns3::gradsync::FaultInjector")
                            .SetParent<Object>()
                            .SetGroupName("gradsync")
                            .AddConstructor<FaultInjector>()
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
    m_isSettled = nullptr;
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
                       std::function<bool()> isSettled)
{
    m_faults = std::move(faults);
    m_topology = std::move(topology);
    m_condition = std::make_unique<NetworkCondition>(m_topology, transport);
    m_isSettled = std::move(isSettled);
    for (uint32_t i = 0; i < m_faults.size(); ++i)
    {
        CheckSpec(m_faults[i]);
        auto& random = m_random.emplace_back(CreateObject<UniformRandomVariable>());
        random->SetStream(DRAW_STREAM + i);
        Add(m_faults[i].start, {i, Step::Begin, {}, 0});
    }
    ScheduleNext();
}

void
FaultInjector::Add(const Time& time, Entry entry)
{
    m_timeline[{time, entry.step}].push_back(std::move(entry));
}

void
FaultInjector::ScheduleNext()
{
    if (!m_timeline.empty())
    {
        const auto time = m_timeline.begin()->first.first;
        m_event = Simulator::Schedule(time - Simulator::Now(), &FaultInjector::Advance, this);
    }
}

void
FaultInjector::Advance()
{
    if (m_isSettled())
    {
        m_timeline.clear();
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
    m_faultTrace({Simulator::Now(), fault, spec.kind, target, begins});
}

void
FaultInjector::Begin(const Entry& entry)
{
    const auto now = Simulator::Now();
    const auto& fault = m_faults[entry.fault];
    const auto targets = Draw(entry.fault);
    for (const auto target : targets)
    {
        Hold(entry.fault, target, true);
    }
    const bool ends = fault.duration.IsStrictlyPositive();
    if (ends)
    {
        Add(now + fault.duration, {entry.fault, Step::End, targets, 0});
    }
    if (ChangesRoutes(fault.kind))
    {
        Add(now + fault.detectionDelay, {entry.fault, Step::Exclude, targets, 0});
        if (ends)
        {
            Add(now + fault.duration + fault.detectionDelay,
                {entry.fault, Step::Include, targets, 0});
        }
    }
    const auto next = entry.occurrence + 1;
    if (fault.every.IsStrictlyPositive() && (fault.count == 0 || next < fault.count))
    {
        Add(now + fault.every, {entry.fault, Step::Begin, {}, next});
    }
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
