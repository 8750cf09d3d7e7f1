// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/slot-aggregation.h"

#include "ns3/wire-format.h"

#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// A packet of a protocol over UDP on the wire.
uint32_t
GetWireBytes(uint32_t headerBytes, uint32_t valueCount)
{
    return wire::OnWire(wire::ETHERNET_BYTES + wire::IPV4_BYTES + wire::UDP_BYTES + headerBytes +
                        4 * valueCount + wire::FCS_BYTES);
}

} // namespace

SlotAggregation::SlotAggregation() = default;
SlotAggregation::~SlotAggregation() = default;

void
SlotAggregation::DoDispose()
{
    // Not EventId::Cancel, which makes a new simulator when the old one is destroyed already.
    if (auto* event = m_reallotment.PeekEventImpl())
    {
        event->Cancel();
    }
    m_byNumber.clear();
    m_sessions.clear();
    m_onRebuild = nullptr;
    m_fabric = nullptr;
    NetworkAggregation::DoDispose();
}

void
SlotAggregation::Install(const Ptr<FabricNetwork>& fabric, std::shared_ptr<const Topology> topology)
{
    m_fabric = fabric;
    m_topology = std::move(topology);
    m_fabric->GetPool().SetContents(&m_contents);
    InstallPrograms();
}

uint32_t
SlotAggregation::OpenAggregation(const AggregationGroup& group)
{
    auto& session = *m_sessions.emplace(m_nextGroup, std::make_unique<Session>()).first->second;
    session.group = m_nextGroup++;
    session.members = group;
    session.endpoints = std::make_shared<const std::vector<uint32_t>>(group.endpoints);
    try
    {
        TakeNumber(session);
        if (group.server)
        {
            OpenAtp(session);
        }
        else if (session.IsNetReduce())
        {
            session.turn = m_sessionCount++;
            OpenNetReduce(session);
        }
        else
        {
            session.turn = m_sessionCount++;
            OpenSlots(session);
        }
    }
    catch (const std::invalid_argument&)
    {
        Forget(session);
        throw;
    }
    return session.group;
}

void
SlotAggregation::Forget(Session& session)
{
    RemoveRoles(session);
    std::erase_if(m_byNumber, [&](const auto& entry) { return entry.second == &session; });
    m_sessions.erase(session.group);
}

void
SlotAggregation::FillJob(Session& session,
                         uint32_t workers,
                         uint16_t valueCount,
                         uint32_t headerBytes)
{
    MakeTensor(session, {workers, valueCount, m_saturate});
    auto* floats = dynamic_cast<FloatTensor*>(session.tensor.get());
    const bool hasExponents = session.members.sharesExponents || (floats && floats->HasExponents());
    session.job = {.number = session.job.number,
                   .valueCount = valueCount,
                   .wireBytes = GetWireBytes(headerBytes, valueCount),
                   .retryLimit = m_retryLimit,
                   .expectsOverflow = m_overflow == OVERFLOW_COUNT,
                   .pool = &m_fabric->GetPool(),
                   .contents = &m_contents,
                   .tensor = session.tensor.get(),
                   .floats = floats,
                   .batch = hasExponents ? m_slots : 0};
}

void
SlotAggregation::OpenSlots(Session& session)
{
    const auto& endpoints = session.members.endpoints;
    FillJob(session,
            static_cast<uint32_t>(endpoints.size()),
            static_cast<uint16_t>(m_valueCount),
            SlotHeader::BYTES);
    session.slotSettings = {.slots = 0, .timeout = m_timeout, .done = {}};
    BuildTree(session);
    for (uint32_t rank = 0; rank < endpoints.size(); ++rank)
    {
        const auto endpoint = endpoints[rank];
        auto worker = std::make_unique<SlotWorker>(
            session.job,
            session.slotSettings,
            static_cast<uint16_t>(rank),
            endpoint,
            m_fabric->GetEndpoint(endpoint).GetPort(session.tree.memberPorts[rank]));
        session.slotWorkers.push_back(worker.get());
        session.workers.push_back(std::move(worker));
        TakeSink(endpoint);
    }
    if (m_sharing == SHARING_STATIC)
    {
        TakeSlots(session);
    }
}

/// Of switches that work, as far as that is known.
void
SlotAggregation::BuildTree(Session& session)
{
    session.tree = BuildSwitchTree(*m_topology, session.members.endpoints, session.turn, m_outage);
    session.adding.clear();
    for (const auto& hop : session.tree.hops)
    {
        // The programs of others and their configuration do it all.
        if (hop.aggregates && !m_userPrograms.contains(hop.node))
        {
            if (!session.IsNetReduce())
            {
                CheckWidth(hop);
            }
            session.adding.insert(hop.node);
        }
    }
}

void
SlotAggregation::CheckWidth(const SwitchTree::Hop& hop) const
{
    const bool isProgram = m_engine == ENGINE_P4;
    const auto most = isProgram ? P4SlotSwitch::MAX_WORKERS : SlotSwitch::MAX_WORKERS;
    if (hop.children.size() > most)
    {
        throw std::invalid_argument(
            fmt::format("switch {} would have to add up {} workers, but {} hold {}",
                        m_topology->GetNodes()[hop.node].name,
                        hop.children.size(),
                        isProgram ? "the bitmaps of the P4 program" : "its bitmaps",
                        most));
    }
}

/// Not one that was used lately: its packets may still be under way.
void
SlotAggregation::TakeNumber(Session& session)
{
    if (m_byNumber.size() > UINT16_MAX)
    {
        throw std::invalid_argument("more than 65536 aggregations at a time");
    }
    while (m_byNumber.contains(m_nextNumber))
    {
        ++m_nextNumber;
    }
    session.job.number = m_nextNumber++;
    m_byNumber[session.job.number] = &session;
    m_endpoints[session.job.number] = session.endpoints;
}

void
SlotAggregation::AddRoles(Session& session)
{
    const auto& tree = session.tree;
    const auto& endpoints = session.members.endpoints;
    // Numbers of switches follow those of the workers.
    const auto numberOf = [&endpoints](uint32_t hop) {
        return static_cast<uint16_t>(endpoints.size() + hop);
    };
    const auto slots = session.IsNetReduce() ? 2 * m_netReduceWindow * m_netReduceMessagePackets
                                             : session.slotSettings.slots;
    for (uint32_t i = 0; i < tree.hops.size(); ++i)
    {
        const auto& hop = tree.hops[i];
        if (m_userPrograms.contains(hop.node))
        {
            continue; // its program and configuration do it all
        }
        AggregationSwitch::Role role{.aggregates = hop.aggregates,
                                     .worker = numberOf(i),
                                     .up = hop.up,
                                     .down = {},
                                     .children = {},
                                     .slots = slots};
        for (const auto& [below, port] : hop.down)
        {
            role.down.emplace(numberOf(below), port);
        }
        for (const auto& child : hop.children)
        {
            role.children.push_back(
                child.isMember ? AggregationSwitch::Child{static_cast<uint16_t>(child.index),
                                                          child.port,
                                                          endpoints[child.index]}
                               : AggregationSwitch::Child{numberOf(child.index),
                                                          child.port,
                                                          AggregationSwitch::NO_ENDPOINT});
        }
        session.nodes.push_back(hop.node);
        // One that has lost its program, which nobody knows yet, drops what it should add.
        const bool adds = !hop.aggregates || !m_plain.contains(hop.node);
        if (session.IsNetReduce())
        {
            auto& program = GetRingProgram(hop.node);
            if (adds)
            {
                program.AddJob(session.job.number, role, session.firstPacket);
            }
            continue;
        }
        auto& program = GetSlotProgram(hop.node);
        if (adds)
        {
            program.AddJob(session.job.number, role);
        }
    }
}

SlotAggregation::NodePrograms&
SlotAggregation::GetPrograms(NodeId node)
{
    auto& programs = m_programs[node];
    programs.contents = &m_contents;
    programs.pool = &m_fabric->GetPool();
    if (!programs.pipelines)
    {
        programs.pipelines = MakePipelines(node, programs);
    }
    m_fabric->GetSwitch(node)->SetProgram(&programs);
    return programs;
}

AggregationSwitch&
SlotAggregation::GetSlotProgram(NodeId node)
{
    auto& program = GetPrograms(node).slots;
    if (!program)
    {
        program = std::make_unique<AggregationSwitch>(
            m_topology->GetNodes()[node].name,
            *m_fabric->GetSwitch(node),
            m_fabric->GetPool(),
            m_contents,
            SlotSwitch::Config{.poolSize = m_poolSlots,
                               .valueCount = static_cast<uint16_t>(m_valueCount),
                               .saturate = m_saturate,
                               .computesSums =
                                   m_values != VALUES_SIZES && m_engine == ENGINE_NATIVE});
        if (m_engine == ENGINE_P4)
        {
            program->SetEngine(MakeSlotEngine(node));
        }
    }
    return *program;
}

/// What reaches an endpoint comes to us first.
void
SlotAggregation::TakeSink(uint32_t endpoint)
{
    if (!m_sinks.contains(endpoint))
    {
        m_sinks[endpoint] = m_fabric->GetSink(endpoint);
        m_fabric->SetSink(endpoint, this);
    }
}

void
SlotAggregation::RemoveRoles(Session& session)
{
    for (const auto node : session.nodes)
    {
        auto& programs = m_programs.at(node);
        if (session.server)
        {
            programs.atp->RemoveJob(session.job.number);
        }
        else if (session.IsNetReduce())
        {
            programs.ring->RemoveJob(session.job.number);
        }
        else
        {
            programs.slots->RemoveJob(session.job.number);
        }
    }
    session.nodes.clear();
    session.isPlaced = false;
}

void
SlotAggregation::CloseAggregation(uint32_t group)
{
    auto& session = *m_sessions.at(group);
    for (const auto& worker : session.workers)
    {
        worker->Stop(); // nothing of it is left anywhere
        Retire(*worker);
    }
    Forget(session);
    if (m_sharing == SHARING_DYNAMIC)
    {
        RequestSlots();
    }
}

/// Keeps the counters of a worker that goes.
void
SlotAggregation::Retire(const AggregationWorker& worker)
{
    m_statistics.retransmissions += worker.GetRetransmissions();
    m_retransmittedBytes += worker.GetRetransmittedBytes();
    m_resultBytes += worker.GetResultBytes();
}

void
SlotAggregation::Aggregate(const AggregationMessage& message)
{
    auto& session = *m_sessions.at(message.group);
    if (!session.failure.empty())
    {
        message.handler->OnFailed(message.tag, session.failure);
        return;
    }
    if (!std::exchange(session.hasBegun, true) && m_sharing == SHARING_DYNAMIC)
    {
        RequestSlots();
    }
    session.workers.at(message.member)->Contribute(message);
}

void
SlotAggregation::Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now)
{
    if ((packet->flags & PacketFlag::PROGRAM) == 0)
    {
        m_sinks.at(endpoint)->Receive(packet, endpoint, now);
        return;
    }
    if (m_contents.Get(*packet).protocol == ProgramProtocol::NetReduce)
    {
        ReceiveNetReduce(packet, endpoint, now);
        return;
    }
    // A copy: the worker may send, which may use these contents again.
    const auto content = m_contents.Get(*packet);
    if (content.protocol == ProgramProtocol::Atp)
    {
        ReceiveAtp(content, *packet, endpoint);
        m_fabric->GetPool().Give(packet);
        return;
    }
    m_fabric->GetPool().Give(packet);
    const auto found = m_byNumber.find(content.header.job);
    if (found == m_byNumber.end() || content.protocol == ProgramProtocol::Other ||
        content.header.messageType != static_cast<uint8_t>(SlotMessage::Result))
    {
        return;
    }
    const auto& workers = found->second->workers;
    const auto rank = content.header.worker;
    if (rank < workers.size() && workers[rank]->GetEndpoint() == endpoint)
    {
        workers[rank]->OnResult(content, m_statistics);
    }
}

void
SlotAggregation::Abandon(const Transport::MessageFilter& isMeant)
{
    for (const auto& [number, session] : m_sessions)
    {
        for (const auto& worker : session->workers)
        {
            if (worker->IsMeant(isMeant))
            {
                worker->Stop();
            }
        }
    }
}

const AggregationSwitch*
SlotAggregation::GetSwitch(NodeId node) const
{
    const auto found = m_programs.find(node);
    return found == m_programs.end() ? nullptr : found->second.slots.get();
}

const AtpNode*
SlotAggregation::GetAtpNode(NodeId node) const
{
    const auto found = m_programs.find(node);
    return found == m_programs.end() ? nullptr : found->second.atp.get();
}

AggregationStatistics
SlotAggregation::GetStatistics() const
{
    auto statistics = m_statistics;
    for (const auto& [number, session] : m_sessions)
    {
        for (const auto& worker : session->workers)
        {
            statistics.retransmissions += worker->GetRetransmissions();
        }
    }
    for (const auto& [node, programs] : m_programs)
    {
        if (programs.slots)
        {
            const auto counts = programs.slots->GetCounts();
            statistics.repeatedResults += counts.repeatedResults;
            statistics.staleDrops += counts.stale;
            statistics.overflows += counts.overflows;
        }
        if (programs.ring)
        {
            statistics.repeatedResults += programs.ring->GetCounts().repeatedResults;
            statistics.overflows += programs.ring->GetCounts().overflows;
        }
        if (programs.atp)
        {
            statistics.overflows += programs.atp->GetSwitch().GetOverflows();
            statistics.collisions += programs.atp->GetSwitch().GetCollisions();
        }
    }
    return statistics;
}

void
SlotAggregation::AddStatistics(TransportStatistics& total) const
{
    total.goodputBytes += m_resultBytes;
    total.retransmittedBytes += m_retransmittedBytes;
    total.retransmittedPackets += GetStatistics().retransmissions;
    for (const auto& [node, programs] : m_programs)
    {
        total.droppedPackets += programs.user ? programs.user->GetStrays() : 0;
    }
    for (const auto& [number, session] : m_sessions)
    {
        for (const auto& worker : session->workers)
        {
            total.goodputBytes += worker->GetResultBytes();
            total.retransmittedBytes += worker->GetRetransmittedBytes();
        }
    }
}

} // namespace ns3::gradsync
