// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fluid-transport.h"

#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

NS_LOG_COMPONENT_DEFINE("GradsyncFluidTransport");
NS_OBJECT_ENSURE_REGISTERED(FluidTransport);

TypeId
FluidTransport::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::FluidTransport")
            .SetParent<Transport>()
            .SetGroupName("GradSync")
            .AddConstructor<FluidTransport>()
            .AddAttribute(
                "Efficiency",
                "Share of every link's rate that message bytes can use, in (0, 1]; the rest "
                "stands for headers. 1: headers cost nothing (the ideal network).",
                DoubleValue(1.0),
                MakeDoubleAccessor(&FluidTransport::m_efficiency),
                MakeDoubleChecker<double>(std::numeric_limits<double>::min(), 1.0));
    return tid;
}

FluidTransport::FluidTransport() = default;

FluidTransport::~FluidTransport()
{
    CancelServe();
}

void
FluidTransport::DoDispose()
{
    // Other pending events hold a reference to this object and find nothing to do.
    CancelServe();
    m_active.clear();
    m_touched.clear();
    m_deliveries.clear();
    m_connections.clear();
    m_connectionOf.clear();
    m_topology.reset();
    m_routes.reset();
    Transport::DoDispose();
}

void
FluidTransport::Install(std::shared_ptr<const Topology> topology,
                        std::shared_ptr<const RoutingTables> routes)
{
    m_topology = std::move(topology);
    m_routes = std::move(routes);
    // Not TimeStep(1).GetSeconds(): ns-3 computes it with 64 fractional bits, 5e-8 off for 1 ps.
    const auto ticksPerSecond = static_cast<double>(Seconds(1).GetTimeStep());
    std::vector<double> capacities;
    for (const auto& link : m_topology->GetLinks())
    {
        capacities.insert(capacities.end(),
                          2,
                          m_efficiency * static_cast<double>(link.rate.GetBitRate()) / 8 /
                              ticksPerSecond);
    }
    m_carried.assign(capacities.size(), Carried{});
    m_allocator = MaxMinAllocator(std::move(capacities));
}

void
FluidTransport::CheckMessage(const Message& message) const
{
    const auto endpoints = m_topology->GetEndpoints().size();
    if (message.src >= endpoints || message.dst >= endpoints || message.src == message.dst)
    {
        throw std::invalid_argument(fmt::format("cannot send from endpoint {} to {}: there are {}",
                                                message.src,
                                                message.dst,
                                                endpoints));
    }
}

void
FluidTransport::Send(const Message& message)
{
    CheckMessage(message);
    const auto pair = FindPair(message.src, message.dst);
    if (pair == NONE)
    {
        Simulator::ScheduleNow(&FluidTransport::Fail, Ptr<FluidTransport>(this), message);
        return;
    }
    Advance();
    const auto connection = FindConnection(pair, message.stream);
    const bool idle = m_connections[connection].head == NONE;
    Enqueue(connection, message);
    if (idle)
    {
        StartService(connection, m_pairs[pair].served);
        Touch(pair);
        RequestAllocation();
    }
}

void
FluidTransport::Fail(Message message)
{
    message.handler->OnFailed(
        message.tag,
        fmt::format("no path from endpoint {} to endpoint {}", message.src, message.dst));
}

uint32_t
FluidTransport::FindPair(uint32_t src, uint32_t dst)
{
    const auto key = static_cast<uint64_t>(src) << 32 | dst;
    if (const auto found = m_pairOf.find(key); found != m_pairOf.end())
    {
        return found->second;
    }
    auto pair = NONE;
    const auto node = m_topology->GetEndpoints()[src];
    const bool hasPath = !m_routes->GetNextHops(node, dst).empty();
    // Cut off by a fault, which may end: the pair waits. Without any path ever it is no pair.
    if (hasPath || !m_linkStates.empty())
    {
        pair =
            m_allocator.AddClass(hasPath ? GetUses(src, dst) : std::vector<MaxMinAllocator::Use>{});
        auto& added = m_pairs.emplace_back();
        added.src = src;
        added.dst = dst;
        added.delay = FindLongestDelay(node, dst);
        added.hasPath = hasPath;
        added.blocked = IsBlocked(pair);
        m_blockedCount += added.blocked ? 1 : 0;
        m_rates.push_back(0);
        m_flowCounts.push_back(0);
    }
    m_pairOf.emplace(key, pair);
    return pair;
}

std::vector<MaxMinAllocator::Use>
FluidTransport::GetUses(uint32_t src, uint32_t dst) const
{
    std::vector<MaxMinAllocator::Use> uses;
    for (const auto& share : m_routes->GetEvenSplit(src, dst))
    {
        uses.push_back({2 * share.link + (share.forward ? 0U : 1U), share.share});
    }
    return uses;
}

Time
FluidTransport::FindLongestDelay(NodeId node, uint32_t endpoint) const
{
    Time longest;
    std::optional<uint16_t> last;
    for (const auto port : m_routes->GetNextHops(node, endpoint))
    {
        if (std::exchange(last, port) == port)
        {
            continue; // one of several entries
        }
        const auto& hop = m_topology->GetPorts(node)[port];
        const auto state = m_linkStates.find(hop.link);
        const auto extra = state == m_linkStates.end() ? Time() : state->second.extraDelay;
        longest = std::max(longest,
                           m_topology->GetLinks()[hop.link].delay + extra +
                               FindLongestDelay(hop.peer, endpoint));
    }
    return longest;
}

uint32_t
FluidTransport::FindConnection(uint32_t pair, uint32_t stream)
{
    const auto [found, isNew] =
        m_connectionOf.try_emplace({pair, stream}, static_cast<uint32_t>(m_connections.size()));
    if (isNew)
    {
        m_connections.push_back({pair});
    }
    return found->second;
}

void
FluidTransport::Enqueue(uint32_t connection, const Message& message)
{
    auto index = m_freeMessage;
    if (index == NONE)
    {
        index = static_cast<uint32_t>(m_messages.size());
        m_messages.emplace_back();
    }
    else
    {
        m_freeMessage = m_messages[index].next;
    }
    m_messages[index] = {message.bytes, message.tag, message.handler, NONE};
    auto& queue = m_connections[connection];
    (queue.head == NONE ? queue.head : m_messages[queue.tail].next) = index;
    queue.tail = index;
}

void
FluidTransport::AddCarried(uint32_t pair, std::vector<Carried>& carried) const
{
    for (const auto& use : m_allocator.GetUses(pair))
    {
        carried[use.link].payloadBytes +=
            static_cast<double>(m_pairs[pair].payloadBytes) * use.weight;
        carried[use.link].wireBytes += static_cast<double>(m_pairs[pair].wireBytes) * use.weight;
    }
}

std::vector<LinkStatistics>
FluidTransport::GetLinkStatistics() const
{
    auto carried = m_carried;
    for (uint32_t pair = 0; pair < m_pairs.size(); ++pair)
    {
        AddCarried(pair, carried);
    }
    std::vector<LinkStatistics> statistics(carried.size());
    for (size_t i = 0; i < carried.size(); ++i)
    {
        statistics[i].payloadBytes = std::llround(carried[i].payloadBytes);
        statistics[i].wireBytes = std::llround(carried[i].wireBytes);
    }
    return statistics;
}

TransportStatistics
FluidTransport::GetStatistics() const
{
    TransportStatistics statistics;
    statistics.goodputBytes = m_goodputBytes;
    for (const auto& link : GetLinkStatistics())
    {
        statistics.wireBytes += link.wireBytes;
    }
    return statistics;
}

void
FluidTransport::AddState(StateWords& words)
{
    if (!m_active.empty() || !m_deliveries.empty() || m_allocationRequested || m_ratesStale ||
        !m_linkStates.empty() || !m_endpointStates.empty())
    {
        words.Refuse("messages are under way as a fluid, or it has had faults");
    }
    // Shares that are not whole are rounded at the end, not in each period.
    for (uint32_t pair = 0; pair < m_pairs.size(); ++pair)
    {
        if (std::ranges::any_of(m_allocator.GetUses(pair),
                                [](const auto& use) { return use.weight != 1.0; }))
        {
            words.Refuse("a fluid splits over several paths");
        }
    }
    // What was ever sent decides in which order of several that are due at once some are first.
    words.Add(m_pairs.size());
    words.Add(m_connections.size());
}

uint64_t
FluidTransport::GetAllocationCount() const
{
    return m_allocationCount;
}

} // namespace ns3::gradsync
