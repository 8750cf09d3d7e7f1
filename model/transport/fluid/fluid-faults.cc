// SPDX-License-Identifier: GPL-2.0-only
// The part of FluidTransport that faults use.
#include "ns3/fluid-transport.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace ns3::gradsync
{

TransportCapabilities*
FluidTransport::GetCapabilities()
{
    return this;
}

TransportFaults*
FluidTransport::GetFaults()
{
    return this;
}

bool
FluidTransport::HasHostFaults() const
{
    return true;
}

void
FluidTransport::SetLinkState(LinkId link, const LinkState& state)
{
    if (state.loss.IsLossy())
    {
        throw std::invalid_argument("the fluid transport has no packets that could be lost");
    }
    Advance();
    m_linkStates[link] = state;
    const auto ticksPerSecond = static_cast<double>(Seconds(1).GetTimeStep());
    const auto ownBits = m_topology->GetLinks()[link].rate.GetBitRate();
    const auto bits = state.GetBitRate(ownBits) - state.GetFloodBitRate(ownBits);
    const auto capacity = m_efficiency * bits / 8 / ticksPerSecond;
    m_allocator.SetCapacity(2 * link, capacity);
    m_allocator.SetCapacity(2 * link + 1, capacity);
    for (auto& pair : m_pairs)
    {
        pair.delay = FindLongestDelay(m_topology->GetEndpoints()[pair.src], pair.dst);
    }
    RequestFaultUpdate();
}

void
FluidTransport::SetEndpointState(uint32_t endpoint, const EndpointState& state)
{
    Advance();
    m_endpointStates[endpoint] = state;
    RequestFaultUpdate();
}

void
FluidTransport::SetRoutes(std::shared_ptr<const RoutingTables> routes)
{
    Advance();
    m_routes = std::move(routes);
    for (uint32_t index = 0; index < m_pairs.size(); ++index)
    {
        auto& pair = m_pairs[index];
        AddCarried(index, m_carried);
        pair.payloadBytes = 0;
        pair.wireBytes = 0;
        const auto node = m_topology->GetEndpoints()[pair.src];
        pair.hasPath = !m_routes->GetNextHops(node, pair.dst).empty();
        if (pair.hasPath)
        {
            m_allocator.SetUses(index, GetUses(pair.src, pair.dst));
            pair.delay = FindLongestDelay(node, pair.dst);
        }
    }
    RequestFaultUpdate();
}

void
FluidTransport::Abandon(const MessageFilter& isMeant)
{
    Advance();
    for (uint32_t index = 0; index < m_connections.size(); ++index)
    {
        if (IsMeant(m_connections[index], isMeant))
        {
            Close(index);
        }
    }
    RequestAllocation();
}

bool
FluidTransport::IsMeant(const Connection& connection, const MessageFilter& isMeant) const
{
    const auto& pair = m_pairs[connection.pair];
    for (auto index = connection.head; index != NONE; index = m_messages[index].next)
    {
        if (!isMeant(pair.src, pair.dst, m_messages[index].handler))
        {
            return false;
        }
    }
    return connection.head != NONE;
}

void
FluidTransport::Close(uint32_t index)
{
    auto& connection = m_connections[index];
    auto& heap = m_pairs[connection.pair].heap;
    std::erase_if(heap, [index](const Service& service) { return service.connection == index; });
    std::make_heap(heap.begin(), heap.end());
    m_messages[connection.tail].next = m_freeMessage;
    m_freeMessage = connection.head;
    connection.head = NONE;
    Touch(connection.pair);
}

void
FluidTransport::RequestFaultUpdate()
{
    // Once for all that faults change at this instant.
    m_ratesStale = true;
    RequestAllocation();
}

void
FluidTransport::UpdateBlocked()
{
    m_blockedCount = 0;
    for (uint32_t index = 0; index < m_pairs.size(); ++index)
    {
        auto& pair = m_pairs[index];
        pair.blocked = IsBlocked(index);
        m_blockedCount += pair.blocked ? 1 : 0;
        if (pair.blocked)
        {
            m_rates[index] = 0;
        }
    }
}

bool
FluidTransport::IsBlocked(uint32_t index) const
{
    const auto& pair = m_pairs[index];
    const auto src = m_endpointStates.find(pair.src);
    const auto dst = m_endpointStates.find(pair.dst);
    if (!pair.hasPath || (src != m_endpointStates.end() && !src->second.sends) ||
        (dst != m_endpointStates.end() && !dst->second.receives))
    {
        return true;
    }
    if (m_linkStates.empty())
    {
        return false;
    }
    const auto uses = m_allocator.GetUses(index);
    return std::any_of(uses.begin(), uses.end(), [this](const auto& use) {
        const auto state = m_linkStates.find(use.link / 2);
        return state != m_linkStates.end() && !state->second.up;
    });
}

std::span<const uint32_t>
FluidTransport::SelectFlowing()
{
    m_flowing.clear();
    std::copy_if(m_active.begin(),
                 m_active.end(),
                 std::back_inserter(m_flowing),
                 [this](uint32_t index) { return !m_pairs[index].blocked; });
    return m_flowing;
}

} // namespace ns3::gradsync
