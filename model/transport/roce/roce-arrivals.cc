// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/roce-arrivals.h"

#include "ns3/event-order.h"
#include "ns3/fabric-network.h"
#include "ns3/forwarding-components.h"
#include "ns3/serialisation-time.h"
#include "ns3/wire-format.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// [component] -> the process of all endpoints at it; nothing: they are of several.
std::vector<std::optional<uint32_t>>
FindOnlyParts(const Topology& topology,
              const ForwardingComponents& components,
              const TopologyDivision& division)
{
    std::vector<std::set<uint32_t>> found(components.count);
    for (const auto node : topology.GetEndpoints())
    {
        for (const auto& port : topology.GetPorts(node))
        {
            const auto component = components.componentOf[port.peer];
            if (component != ForwardingComponents::None)
            {
                found[component].insert(division.partOf[node]);
            }
        }
    }
    std::vector<std::optional<uint32_t>> partOf;
    partOf.reserve(found.size());
    for (const auto& parts : found)
    {
        partOf.push_back(parts.size() == 1 ? std::optional(*parts.begin()) : std::nullopt);
    }
    return partOf;
}

} // namespace

RoceArrivals::RoceArrivals(FabricNetwork& fabric, const RoceConnectionTable& connections)
    : m_fabric(fabric),
      m_connections(connections)
{
}

Time
RoceArrivals::Watch(const AwaitedEndpoints& endpoints, const TopologyDivision& division)
{
    if (!endpoints.empty() && m_fabric.MayLose())
    {
        throw std::invalid_argument(
            "ranks wait for what arrives at ranks of other processes, which "
            "is not known ahead where packets are lost: attribute LossRate "
            "of the fabric is not 0, or Pfc is false");
    }
    const auto& topology = m_fabric.GetTopology();
    const auto components = FindForwardingComponents(topology);
    const auto onlyPartOf = FindOnlyParts(topology, components, division);
    auto least = TimeStep(INT64_MAX);
    for (const auto& [endpoint, awaitsOwn] : endpoints)
    {
        const auto node = topology.GetEndpoints()[endpoint];
        for (const auto& [id, peer] : topology.GetPorts(node))
        {
            if (!m_fabric.GetSwitch(peer))
            {
                throw std::invalid_argument(fmt::format("{} is linked to another host directly: "
                                                        "when a message arrives there is not "
                                                        "known ahead",
                                                        topology.GetNodes()[node].name));
            }
            if (!awaitsOwn && onlyPartOf[components.componentOf[peer]])
            {
                continue; // nothing of other processes comes from there
            }
            const auto& link = topology.GetLinks()[id];
            const SerialisationTime serialisation(link.rate);
            least =
                std::min(least, link.delay + TimeStep(serialisation.Get(wire::RoceDataBytes(0))));
            if (division.IsHere(node))
            {
                WatchPort(2 * id + (link.a == node ? 1 : 0), endpoint);
            }
        }
    }
    return least;
}

void
RoceArrivals::WatchPort(uint32_t index, uint32_t endpoint)
{
    auto& port = m_fabric.GetPort(index);
    port.SetTap(this);
    m_ports.Add(port);
    m_endpointOf.emplace(index, endpoint);
}

void
RoceArrivals::Depart(TimeStepCount now)
{
    m_ports.Depart(now);
}

TimeStepCount
RoceArrivals::GetNextStart() const
{
    return m_ports.GetNextStart();
}

void
RoceArrivals::OnPacket(uint32_t portIndex, const FabricPacket& packet, TimeStepCount /* start */)
{
    if (packet.kind != PacketKind::Data || (packet.flags & PacketFlag::PROGRAM) != 0 ||
        packet.destination != m_endpointOf.at(portIndex)) // else the endpoint forwards it
    {
        return;
    }
    const auto* queuePair = m_connections.Find(packet.connection, packet.generation);
    if (!queuePair)
    {
        return;
    }
    auto& departed = m_departed[packet.connection];
    if (departed.generation != packet.generation)
    {
        // Its first packet: nothing has come to the receiver yet.
        departed = {.generation = packet.generation,
                    .nextPsn = queuePair->expectedPsn,
                    .last = {},
                    .early = {}};
    }
    const Arrival arrival{packet.arrival, portIndex};
    if (packet.psn != departed.nextPsn)
    {
        if (packet.psn > departed.nextPsn)
        {
            departed.early.emplace(packet.psn, arrival);
        }
        return;
    }
    Pass(departed, *queuePair, arrival);
    while (!departed.early.empty() && departed.early.begin()->first == departed.nextPsn)
    {
        Pass(departed, *queuePair, departed.early.begin()->second);
        departed.early.erase(departed.early.begin());
    }
}

/// The next packet in order has left.
void
RoceArrivals::Pass(Departed& departed, const RoceQueuePair& queuePair, const Arrival& arrival)
{
    const auto psn = departed.nextPsn++;
    departed.last = std::max(departed.last, arrival);
    const auto* messages = queuePair.receiving;
    while (messages->EndsBefore(psn))
    {
        messages = messages->next;
    }
    const auto index = messages->FindIndex(psn);
    if (messages->GetFirstPsn(index + 1) == departed.nextPsn)
    {
        messages->series.GetHandler()->OnArriving(
            messages->series.GetTag(index),
            TimeStep(static_cast<uint64_t>(departed.last.first)),
            EventOrder::OfArrival(departed.last.second));
    }
}

} // namespace ns3::gradsync
