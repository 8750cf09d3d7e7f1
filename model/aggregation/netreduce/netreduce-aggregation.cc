// SPDX-License-Identifier: GPL-2.0-only
// The part of SlotAggregation that speaks NetReduce.
#include "ns3/byte-order.h"
#include "ns3/roce-transport.h"
#include "ns3/slot-aggregation.h"

#include <fmt/format.h>
#include <stdexcept>
#include <vector>

namespace ns3::gradsync
{

namespace
{

constexpr uint32_t BYTES_PER_VALUE = 4;

/// The members below a hop of a tree, in the order of its children.
void
ListMembers(const SwitchTree& tree, uint32_t hop, std::vector<uint32_t>& members)
{
    for (const auto& child : tree.hops[hop].children)
    {
        if (child.isMember)
        {
            members.push_back(child.index);
        }
        else
        {
            ListMembers(tree, child.index, members);
        }
    }
}

} // namespace

void
SlotAggregation::SetTransport(RoceTransport* transport)
{
    m_transport = transport;
}

void
SlotAggregation::CheckNetReduce() const
{
    if (m_engine == ENGINE_P4)
    {
        throw std::invalid_argument("the engine p4 is for the slot protocol (switchml, passing): "
                                    "NetReduce runs natively");
    }
    if (!m_userPrograms.empty())
    {
        throw std::invalid_argument("NetReduce does not go with programs of the user");
    }
    if (m_saturate)
    {
        throw std::invalid_argument(
            "NetReduce's sums wrap around: attribute Saturate is not for it");
    }
    if (m_transport->GetRecovery() != RECOVERY_GO_BACK_N)
    {
        throw std::invalid_argument("NetReduce's boxes take packets in order: attribute Recovery "
                                    "must be go-back-n");
    }
    if (m_transport->UsesTelemetry())
    {
        throw std::invalid_argument("NetReduce's packets have no room for the telemetry of the "
                                    "congestion control hpcc");
    }
    if (m_transport->GetMtuBytes() % BYTES_PER_VALUE != 0)
    {
        throw std::invalid_argument(fmt::format("NetReduce: attribute Mtu is {} bytes, which are "
                                                "no whole number of integers",
                                                m_transport->GetMtuBytes()));
    }
}

void
SlotAggregation::OpenNetReduce(Session& session)
{
    CheckNetReduce();
    const auto& endpoints = session.members.endpoints;
    const auto valueCount = static_cast<uint16_t>(m_transport->GetMtuBytes() / BYTES_PER_VALUE);
    FillJob(session, static_cast<uint32_t>(endpoints.size()), valueCount, 0);
    session.job.headerEvery = m_netReduceMessagePackets;
    session.job.headerBytes = NetReduceHeader::BYTES;
    session.job.countsBytes = false;
    session.ringSettings = {.transport = m_transport,
                            .stream = FIRST_STREAM + session.group,
                            .messagePackets = m_netReduceMessagePackets,
                            .window = m_netReduceWindow};
    BuildTree(session);
    for (uint32_t rank = 0; rank < endpoints.size(); ++rank)
    {
        const auto endpoint = endpoints[rank];
        auto worker = std::make_unique<NetReduceWorker>(
            session.job,
            session.ringSettings,
            static_cast<uint16_t>(rank),
            endpoint,
            m_fabric->GetEndpoint(endpoint).GetPort(session.tree.memberPorts[rank]));
        session.rankOf[endpoint] = rank;
        session.ringWorkers.push_back(worker.get());
        session.workers.push_back(std::move(worker));
        TakeSink(endpoint);
    }
    LinkRing(session);
    AddRoles(session);
}

/// In the order of the tree, so that one connection enters each of its parts and one leaves it.
void
SlotAggregation::LinkRing(Session& session)
{
    std::vector<uint32_t> ring;
    ListMembers(session.tree, 0, ring);
    for (size_t i = 0; i < ring.size(); ++i)
    {
        const auto next = ring[(i + 1) % ring.size()];
        session.ringWorkers[ring[i]]->SetNext(session.members.endpoints[next]);
    }
}

NetReduceNode&
SlotAggregation::GetRingProgram(NodeId node)
{
    auto& program = GetPrograms(node).ring;
    if (!program)
    {
        program = std::make_unique<NetReduceNode>(
            *m_fabric->GetSwitch(node),
            m_fabric->GetPool(),
            m_contents,
            NetReduceNode::Config{.valueCount = m_transport->GetMtuBytes() / BYTES_PER_VALUE,
                                  .computesSums = m_values != VALUES_SIZES});
    }
    return *program;
}

/**
 * The new boxes know of nothing: all messages from the first on that any worker lacks are sent
 * again, over connections that begin anew.
 */
void
SlotAggregation::RebuildNetReduce(Session& session)
{
    m_byNumber.erase(session.job.number);
    TakeNumber(session);
    session.firstPacket = UINT64_MAX;
    for (auto* worker : session.ringWorkers)
    {
        if (!worker->IsHalted() && worker->GetDone() < session.firstPacket)
        {
            session.firstPacket = worker->GetMessageStart(worker->GetDone());
        }
    }
    BuildTree(session);
    LinkRing(session);
    AddRoles(session);
    for (auto* worker : session.ringWorkers)
    {
        if (!worker->IsHalted())
        {
            worker->Restart(session.firstPacket);
        }
    }
}

void
SlotAggregation::Equip(FabricPacket& packet,
                       uint32_t endpoint,
                       uint32_t stream,
                       const MessagePlace& place)
{
    const auto& session = *m_sessions.at(stream - FIRST_STREAM);
    const auto* worker = session.ringWorkers[session.rankOf.at(endpoint)];
    const auto flags = packet.flags;
    const auto feedback = packet.feedback;
    auto& content = m_contents.Attach(packet);
    packet.flags |= flags;
    worker->Equip(content, packet, place);
    content.ring.feedback = feedback;
}

uint16_t
SlotAggregation::GetSendingPort(uint32_t endpoint, uint32_t stream) const
{
    const auto& session = *m_sessions.at(stream - FIRST_STREAM);
    return session.tree.memberPorts[session.rankOf.at(endpoint)];
}

/// The queue pair takes it first; what it may bring about is up to the worker.
void
SlotAggregation::ReceiveNetReduce(FabricPacket* packet, uint32_t endpoint, TimeStepCount now)
{
    const auto content = m_contents.Get(*packet);
    if (!content.ring.isResult)
    {
        m_fabric->GetPool().Give(packet); // no box has seen it
        return;
    }
    m_contents.Release(packet->feedback);
    packet->feedback = content.ring.feedback;
    packet->flags &= static_cast<uint8_t>(~PacketFlag::PROGRAM);
    m_sinks.at(endpoint)->Receive(packet, endpoint, now);
    const auto found = m_byNumber.find(content.ring.job);
    if (found == m_byNumber.end())
    {
        return;
    }
    const auto& workers = found->second->ringWorkers;
    const auto rank = content.ring.child;
    if (rank < workers.size() && workers[rank]->GetEndpoint() == endpoint)
    {
        workers[rank]->OnResult(content, m_statistics);
    }
}

/// What is in a RoCE packet.
std::vector<uint8_t>
SlotAggregation::MakeNetReducePayload(const SlotPacket& content, uint32_t dataBytes)
{
    const auto& ring = content.ring;
    std::vector<uint8_t> payload(ring.messageBytes != 0 ? size_t{NetReduceHeader::BYTES} : 0);
    if (!payload.empty())
    {
        WriteBigEndian(std::span(payload), 0, ring.job);
        WriteBigEndian(std::span(payload), 2, ring.child);
        WriteBigEndian(std::span(payload), 4, ring.sequence);
        WriteBigEndian(std::span(payload), 12, ring.messageBytes);
    }
    const auto start = payload.size();
    payload.resize(start + BYTES_PER_VALUE * content.values.size());
    for (size_t i = 0; i < content.values.size(); ++i)
    {
        WriteBigEndian(std::span(payload),
                       start + BYTES_PER_VALUE * i,
                       static_cast<uint32_t>(content.values[i]));
    }
    payload.resize(start + dataBytes);
    return payload;
}

} // namespace ns3::gradsync
