// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/fabric-cut.h"

#include "ns3/fabric-network.h"
#include "ns3/port-prefetch.h"

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
                auto& leaving = network.GetPort(port);
                leaving.SetTaker(this);
                m_leaving.Add(leaving);
            }
        }
    }
}

void
FabricCut::Depart(TimeStepCount now)
{
    m_leaving.Depart(now);
}

TimeStepCount
FabricCut::GetFirstArrival() const
{
    return std::ranges::min_element(m_outgoing, {}, &Outgoing::firstArrival)->firstArrival;
}

TimeStepCount
FabricCut::GetNextStart() const
{
    return m_leaving.GetNextStart();
}

void
FabricCut::TakeOver(uint32_t portIndex, FabricPacket* packet)
{
    auto& outgoing = m_outgoing[m_partOf[portIndex]];
    // Member by member in its place: of one that was put together before, all parts would have to
    // be stored before it can be read.
    auto& crossing = outgoing.packets.AppendUnset();
    crossing.fields = *packet;
    crossing.arrival = packet->arrival;
    crossing.port = portIndex;
    crossing.returns = m_network.CountReturns(portIndex);
    if ((packet->flags & (PacketFlag::TELEMETRY | PacketFlag::PROGRAM)) != 0) [[unlikely]]
    {
        TakeRecord(*packet, outgoing);
    }
    outgoing.firstArrival = std::min(outgoing.firstArrival, packet->arrival);
    m_pool.Give(packet);
}

/// What a packet carries beside itself.
void
FabricCut::TakeRecord(const FabricPacket& packet, Outgoing& outgoing) const
{
    if ((packet.flags & PacketFlag::PROGRAM) != 0)
    {
        m_pool.GetContents().Write(packet.feedback, outgoing.contents);
        return;
    }
    outgoing.telemetry.push_back(m_pool.GetTelemetry(packet));
}

void
FabricCut::Take(uint32_t part, OutgoingBatch& batch)
{
    auto& outgoing = m_outgoing[part];
    outgoing.taken.Clear();
    outgoing.taken.Swap(outgoing.packets);
    batch.ReferTo(outgoing.taken);
    AppendList(batch.GetOwn(), std::span<const TelemetryRecord>(outgoing.telemetry));
    auto& own = batch.GetOwn();
    own.insert(own.end(), outgoing.contents.begin(), outgoing.contents.end());
    outgoing.telemetry.clear();
    outgoing.contents.clear();
    outgoing.firstArrival = INT64_MAX;
}

void
FabricCut::Put(BatchReader& batch, TimeStepCount now)
{
    // Of a packet that comes later its place and the port are fetched, then what is on the wire.
    constexpr size_t AHEAD = 6;
    const auto packets = batch.TakeView<Crossing>();
    const auto telemetry = batch.TakeView<TelemetryRecord>();
    size_t nextRecord = 0;
    for (size_t i = 0; i < packets.GetSize(); ++i)
    {
        packets.PrefetchAfter(i);
        if (i + 2 * AHEAD < packets.GetSize())
        {
            PortPrefetch::Self(m_network.GetPort(packets[i + 2 * AHEAD].port));
            m_network.GetPort(packets[i + AHEAD].port).PrefetchWire();
        }
        const auto crossing = packets[i];
        auto* packet = m_pool.Take();
        static_cast<PacketFields&>(*packet) = crossing.fields;
        packet->arrival = crossing.arrival;
        if ((packet->flags & PacketFlag::TELEMETRY) != 0) [[unlikely]]
        {
            m_pool.AttachTelemetry(*packet);
            m_pool.GetTelemetry(*packet) = telemetry[nextRecord++];
        }
        else if ((packet->flags & PacketFlag::PROGRAM) != 0) [[unlikely]]
        {
            packet->feedback = m_pool.GetContents().Read(batch);
        }
        m_network.ExpectReturns(crossing.port, crossing.returns, crossing.arrival);
        m_network.GetPort(crossing.port).PutOnWire(packet, now);
    }
}

} // namespace ns3::gradsync
