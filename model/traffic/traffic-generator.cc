// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/traffic-generator.h"

#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/time-range.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(TrafficGenerator);

namespace
{

/// Random number streams, three a TrafficSpec; the faults' are below and above.
constexpr int64_t FIRST_RANDOM_STREAM = int64_t{1} << 36;

/// Message streams of the jobs are below.
constexpr uint32_t FIRST_MESSAGE_STREAM = 1U << 30;

double
SumNetworkRates(const Topology& topology, NodeId node)
{
    double bitRate = 0.0;
    for (const auto& port : topology.GetPorts(node))
    {
        const auto& link = topology.GetLinks()[port.link];
        bitRate += IsEthernet(link) ? static_cast<double>(link.rate.GetBitRate()) : 0.0;
    }
    return bitRate;
}

/// Of an accelerator: its share of the network links of what it reaches within its server.
double
GetServerShare(const Topology& topology, NodeId accelerator)
{
    std::set<NodeId> seen{accelerator};
    std::vector<NodeId> open{accelerator};
    double bitRate = 0.0;
    uint32_t endpoints = 0;
    while (!open.empty())
    {
        const auto node = open.back();
        open.pop_back();
        bitRate += SumNetworkRates(topology, node);
        endpoints += IsEndpoint(topology.GetNodes()[node].kind) ? 1 : 0;
        for (const auto& port : topology.GetPorts(node))
        {
            if (!IsEthernet(topology.GetLinks()[port.link]) && seen.insert(port.peer).second)
            {
                open.push_back(port.peer);
            }
        }
    }
    return bitRate / endpoints;
}

double
GetHostRate(const Topology& topology, uint32_t endpoint)
{
    const auto node = topology.GetEndpoints()[endpoint];
    const auto own = SumNetworkRates(topology, node);
    return own > 0.0 ? own : GetServerShare(topology, node);
}

} // namespace

double
GetOfferedBitRate(const TrafficSpec& spec, const Topology& topology)
{
    double bitRate = 0.0;
    for (const auto host : spec.hosts)
    {
        bitRate += spec.load * GetHostRate(topology, host);
    }
    return bitRate;
}

double
GetMeanGap(const TrafficSpec& spec, const Topology& topology)
{
    const auto mean = spec.sizes ? spec.sizes->GetMeanBytes() : static_cast<double>(spec.bytes);
    return 8.0 * mean / GetOfferedBitRate(spec, topology);
}

double
CountFlows(const TrafficSpec& spec, const Topology& topology, const Time& end)
{
    const auto last = spec.duration ? std::min(end, AddTimes(spec.start, *spec.duration)) : end;
    if (last <= spec.start)
    {
        return 0.0;
    }
    const auto seconds = (last - spec.start).GetSeconds();
    return spec.kind == TrafficSpec::Kind::Incast
               ? spec.fanIn * std::ceil(seconds / spec.every.GetSeconds())
               : seconds / GetMeanGap(spec, topology);
}

TypeId
TrafficGenerator::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::TrafficGenerator")
            .SetParent<Object>()
            .SetGroupName("GradSync")
            .AddConstructor<TrafficGenerator>()
            .AddAttribute(
                "Streams",
                "Connections of a pair of hosts among which its flows take turns; those on "
                "one connection wait for each other.",
                UintegerValue(64),
                MakeUintegerAccessor(&TrafficGenerator::m_streams),
                MakeUintegerChecker<uint32_t>(1, FIRST_MESSAGE_STREAM))
            .AddAttribute("MaxFlows",
                          "Flows after which it ends the simulation.",
                          UintegerValue(MAX_FLOWS),
                          MakeUintegerAccessor(&TrafficGenerator::m_maxFlows),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("MaxActiveFlows",
                          "Flows that may be under way; with more it ends the simulation.",
                          UintegerValue(MAX_ACTIVE_FLOWS),
                          MakeUintegerAccessor(&TrafficGenerator::m_maxActiveFlows),
                          MakeUintegerChecker<uint64_t>())
            .AddTraceSource("Flow",
                            "A flow has ended.",
                            MakeTraceSourceAccessor(&TrafficGenerator::m_flowTrace),
                            "ns3::gradsync::TrafficGenerator::FlowCallback");
    return tid;
}

TrafficGenerator::TrafficGenerator() = default;
TrafficGenerator::~TrafficGenerator() = default;

void
TrafficGenerator::DoDispose()
{
    m_transport = nullptr;
    m_isSettled = nullptr;
    m_isHere = nullptr;
    m_sources.clear();
    Object::DoDispose();
}

void
TrafficGenerator::Install(std::vector<TrafficSpec> traffic,
                          const Topology& topology,
                          const Ptr<Transport>& transport,
                          std::function<bool()> isSettled)
{
    m_transport = transport;
    m_isSettled = std::move(isSettled);
    if (!traffic.empty())
    {
        transport
            ->KeepInStep(); // it goes on when the jobs are done and what was counted is asked for
    }
    for (auto& spec : traffic)
    {
        CheckSpec(spec);
        AddSource(std::move(spec), topology);
    }
}

void
TrafficGenerator::Divide(std::function<bool(uint32_t endpoint)> isHere, uint32_t count)
{
    m_isHere = std::move(isHere);
    m_processes = count;
}

bool
TrafficGenerator::IsHere(uint32_t endpoint) const
{
    return !m_isHere || m_isHere(endpoint);
}

void
TrafficGenerator::CheckSpec(const TrafficSpec& spec) const
{
    if (spec.hosts.size() < 2)
    {
        throw std::invalid_argument("background traffic needs two hosts at least");
    }
    if (spec.kind == TrafficSpec::Kind::Poisson && !(spec.load > 0.0))
    {
        throw std::invalid_argument("background traffic of load 0");
    }
    if (spec.kind == TrafficSpec::Kind::Incast &&
        (spec.fanIn == 0 || spec.fanIn >= spec.hosts.size() || !spec.every.IsStrictlyPositive()))
    {
        throw std::invalid_argument(
            fmt::format("an incast of {} of {} hosts", spec.fanIn, spec.hosts.size()));
    }
}

void
TrafficGenerator::AddSource(TrafficSpec spec, const Topology& topology)
{
    const auto index = static_cast<uint32_t>(m_sources.size());
    const auto stream = FIRST_RANDOM_STREAM + 3 * int64_t{index};
    Source source;
    source.ends = CreateObject<UniformRandomVariable>();
    source.ends->SetStream(stream);
    if (spec.sizes)
    {
        source.sizes = spec.sizes->MakeVariable(stream + 1);
    }
    if (spec.kind == TrafficSpec::Kind::Poisson)
    {
        source.gaps = CreateObject<ExponentialRandomVariable>();
        source.gaps->SetAttribute("Mean", DoubleValue(GetMeanGap(spec, topology)));
        source.gaps->SetStream(stream + 2);
    }
    const auto first = AddTimes(spec.start, source.gaps ? ToTime(source.gaps->GetValue()) : Time());
    source.spec = std::move(spec);
    m_sources.push_back(std::move(source));
    Schedule(index, first);
}

void
TrafficGenerator::Schedule(uint32_t index, const Time& delay)
{
    const auto& spec = m_sources[index].spec;
    if (!spec.duration || AddTimes(Simulator::Now(), delay) < AddTimes(spec.start, *spec.duration))
    {
        m_sources[index].event = Simulator::Schedule(delay, &TrafficGenerator::Begin, this, index);
        ++m_eventCount;
    }
}

void
TrafficGenerator::Begin(uint32_t index)
{
    if (m_isSettled())
    {
        return;
    }
    if (IsBeyondLimits())
    {
        GiveUp(fmt::format("{} flows have begun, {} of them are under way{}, more than the network "
                           "carries",
                           m_flowCount,
                           m_flows.size(),
                           m_processes > 1 ? " to hosts of one process" : ""));
        return;
    }
    auto& source = m_sources[index];
    if (source.spec.kind == TrafficSpec::Kind::Incast)
    {
        BeginIncast(index);
        Schedule(index, source.spec.every);
        return;
    }
    const auto ends = DrawHosts(source, 2);
    BeginFlow(index, ends[0], ends[1]);
    Schedule(index, ToTime(source.gaps->GetValue()));
}

bool
TrafficGenerator::IsBeyondLimits() const
{
    return m_flowCount > m_maxFlows || m_flows.size() > m_maxActiveFlows / m_processes;
}

void
TrafficGenerator::GiveUp(std::string problem)
{
    m_problem = "ended by background traffic: " + std::move(problem);
    Simulator::Stop();
}

void
TrafficGenerator::BeginIncast(uint32_t index)
{
    auto& source = m_sources[index];
    const auto hosts = DrawHosts(source, source.spec.fanIn + 1);
    for (uint32_t i = 1; i < hosts.size(); ++i)
    {
        BeginFlow(index, hosts[i], hosts[0]);
    }
}

std::vector<uint32_t>
TrafficGenerator::DrawHosts(Source& source, uint32_t count)
{
    // The first steps of a Fisher-Yates shuffle; whatever order it leaves is as good a start as
    // any.
    auto& hosts = source.spec.hosts;
    const auto last = static_cast<uint32_t>(hosts.size()) - 1;
    for (uint32_t i = 0; i < count; ++i)
    {
        std::swap(hosts[i], hosts[source.ends->GetInteger(i, last)]);
    }
    return {hosts.begin(), hosts.begin() + count};
}

void
TrafficGenerator::BeginFlow(uint32_t index, uint32_t src, uint32_t dst)
{
    auto& source = m_sources[index];
    const auto bytes = source.sizes
                           ? std::max<uint64_t>(static_cast<uint64_t>(source.sizes->GetValue()), 1)
                           : source.spec.bytes;
    const auto tag = m_flowCount++;
    if (IsHere(dst))
    {
        m_flows[tag] = {index, src, dst, bytes, Simulator::Now(), Time(), false};
    }
    if (IsHere(src))
    {
        const auto stream = FIRST_MESSAGE_STREAM + static_cast<uint32_t>(tag % m_streams);
        m_transport->Send({src, dst, stream, bytes, tag, this});
    }
}

void
TrafficGenerator::End(uint64_t tag, bool failed)
{
    auto flow = m_flows.extract(tag);
    flow.mapped().end = m_lastEnd = Simulator::Now();
    flow.mapped().failed = failed;
    m_flowTrace(flow.mapped());
}

void
TrafficGenerator::OnDelivered(uint64_t tag)
{
    End(tag, false);
}

void
TrafficGenerator::OnFailed(uint64_t tag, const std::string& reason)
{
    if (m_flows.contains(tag))
    {
        End(tag, true);
    }
    else
    {
        GiveUp("a flow to a host of another process failed: " + reason);
    }
}

} // namespace ns3::gradsync
