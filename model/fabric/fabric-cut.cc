// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fabric-cut.h"

#include "ns3/fabric-network.h"

#include <algorithm>
#include <utility>

namespace ns3::gradsync
{

FabricCut::FabricCut(FabricNetwork& network,
                     const Topology& topology,
                     const TopologyDivision& division)
    : m_network(network),
      m_pool(network.GetPool()),
      m_partOf(network.GetPortCount(), division.own),
      m_outgoing(division.count)
{
    const auto links = topology.GetLinks();
    for (LinkId id = 0; id < links.size(); ++id)
    {
        const auto& link = links[id];
        if (!division.IsCut(link))
        {
            continue;
        }
        for (const auto& [from, to, port] :
             {std::tuple{link.a, link.b, 2 * id}, std::tuple{link.b, link.a, 2 * id + 1}})
        {
            if (division.IsHere(from))
            {
                m_partOf[port] = division.partOf[to];
                m_leaving.push_back(&network.GetPort(port));
                m_leaving.back()->SetTaker(this);
            }
        }
    }
}

void
FabricCut::Depart(TimeStepCount now)
{
    for (auto* port : m_leaving)
    {
        port->Sync(now);
    }
}

TimeStepCount
FabricCut::GetNextTime() const
{
    TimeStepCount next = INT64_MAX;
    for (const auto& outgoing : m_outgoing)
    {
        next = std::min(next, outgoing.firstArrival);
    }
    for (const auto* port : m_leaving)
    {
        next = std::min(next, port->GetNextStart());
    }
    return next;
}

void
FabricCut::TakeOver(uint32_t portIndex, FabricPacket* packet)
{
    auto& outgoing = m_outgoing[m_partOf[portIndex]];
    AppendPlain(outgoing.packets, portIndex);
    AppendPlain(outgoing.packets, *packet);
    if ((packet->flags & PacketFlag::TELEMETRY) != 0) [[unlikely]]
    {
        AppendPlain(outgoing.packets, m_pool.GetTelemetry(*packet));
    }
    ++outgoing.count;
    outgoing.firstArrival = std::min(outgoing.firstArrival, packet->arrival);
    m_pool.Give(packet);
}

void
FabricCut::Take(uint32_t part, ByteBatch& batch)
{
    auto& outgoing = m_outgoing[part];
    AppendPlain(batch, outgoing.count);
    batch.insert(batch.end(), outgoing.packets.begin(), outgoing.packets.end());
    outgoing.packets.clear(); // and keeps its memory
    outgoing.count = 0;
    outgoing.firstArrival = INT64_MAX;
}

void
FabricCut::Put(BatchReader& batch, TimeStepCount now)
{
    for (auto left = batch.Take<uint64_t>(); left > 0; --left)
    {
        const auto port = batch.Take<uint32_t>();
        auto* packet = m_pool.Take();
        *packet = batch.Take<FabricPacket>();
        if ((packet->flags & PacketFlag::TELEMETRY) != 0) [[unlikely]]
        {
            m_pool.AttachTelemetry(*packet);
            m_pool.GetTelemetry(*packet) = batch.Take<TelemetryRecord>();
        }
        m_network.GetPort(port).PutOnWire(packet, now);
    }
}

} // namespace ns3::gradsync
