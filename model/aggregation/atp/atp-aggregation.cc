// SPDX-License-Identifier: GPL-2.0-only
// The part of SlotAggregation that speaks ATP.
#include "ns3/aggregation-address.h"
#include "ns3/atp-frame.h"
#include "ns3/simulator.h"
#include "ns3/slot-aggregation.h"
#include "ns3/slot-frame.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <stdexcept>
#include <vector>

namespace ns3::gradsync
{

void
SlotAggregation::OpenAtp(Session& session)
{
    if (m_engine == ENGINE_P4)
    {
        throw std::invalid_argument("the engine p4 is for the slot protocol "
                                    "(switchml, passing): ATP runs natively");
    }
    const auto& endpoints = session.members.endpoints;
    const auto server = *session.members.server;
    if (endpoints.size() > AtpHeader::MAX_WORKERS)
    {
        throw std::invalid_argument(fmt::format("{} workers, but the bitmaps of ATP hold {}",
                                                endpoints.size(),
                                                AtpHeader::MAX_WORKERS));
    }
    FillJob(session, static_cast<uint32_t>(endpoints.size()), ATP_VALUES, AtpHeader::BYTES);
    session.atpSettings = {.server = server,
                           .maxWindow = m_atpWindow,
                           .firstTimeout = m_atpFirstTimeout,
                           .timeout = m_atpTimeout};
    const auto all = static_cast<uint32_t>((uint64_t{1} << endpoints.size()) - 1);
    session.server = std::make_unique<AtpServer>(all, m_atpWindow);
    AddAtpRoles(session);
    for (uint32_t rank = 0; rank < endpoints.size(); ++rank)
    {
        const auto endpoint = endpoints[rank];
        session.workers.push_back(std::make_unique<AtpWorker>(session.job,
                                                              session.atpSettings,
                                                              static_cast<uint16_t>(rank),
                                                              endpoint,
                                                              ChooseAtpPort(session, endpoint)));
        TakeSink(endpoint);
    }
    TakeSink(server);
}

FabricPort&
SlotAggregation::ChooseAtpPort(const Session& session, uint32_t endpoint)
{
    const auto port =
        m_fabric->ChooseEndpointPort(endpoint, session.job.number, *session.members.server);
    return m_fabric->GetEndpoint(endpoint).GetPort(port);
}

/// The first switch on the way of an endpoint into the network.
NodeId
SlotAggregation::FindLeaf(uint32_t endpoint) const
{
    std::vector<NodeId> open{m_topology->GetEndpoints()[endpoint]};
    std::vector<bool> seen(m_topology->GetNodes().size(), false);
    seen[open.front()] = true;
    for (size_t next = 0; next < open.size(); ++next)
    {
        for (const auto& port : m_topology->GetPorts(open[next]))
        {
            const auto kind = m_topology->GetNodes()[port.peer].kind;
            if (kind == NodeKind::Switch)
            {
                return port.peer;
            }
            if (!seen[port.peer] && !IsEndpoint(kind))
            {
                seen[port.peer] = true;
                open.push_back(port.peer);
            }
        }
    }
    throw std::invalid_argument("a worker of the aggregation is at no switch");
}

void
SlotAggregation::AddAtpRoles(Session& session)
{
    const auto& endpoints = session.members.endpoints;
    const auto serverLeaf = FindLeaf(*session.members.server);
    if (m_outage.switches.contains(serverLeaf))
    {
        throw std::invalid_argument("the switch of the parameter server does not add up");
    }
    session.adding.clear();
    std::map<NodeId, AtpNode::Role> roles;
    for (uint32_t rank = 0; rank < endpoints.size(); ++rank)
    {
        // What a switch does not do for its workers, the one of the server does.
        const auto leaf = FindLeaf(endpoints[rank]);
        auto& role = roles[m_outage.switches.contains(leaf) ? serverLeaf : leaf];
        role.all |= 1U << rank;
        role.workers.push_back(endpoints[rank]);
    }
    session.racks.clear();
    for (const auto& [node, role] : roles)
    {
        session.racks.push_back(role.all);
    }
    auto& last = roles[serverLeaf];
    last.isServerSide = true;
    for (const auto& [node, role] : roles)
    {
        if (node != serverLeaf)
        {
            last.all |= role.all;
            last.racks.push_back(role.workers.front());
        }
    }
    for (const auto& [node, role] : roles)
    {
        if (m_userPrograms.contains(node))
        {
            continue; // its program and configuration do it all
        }
        auto& program = GetAtpProgram(node);
        session.nodes.push_back(node);
        session.adding.insert(node);
        if (!m_plain.contains(node))
        {
            program.AddJob(session.job.number, role);
        }
    }
}

AtpNode&
SlotAggregation::GetAtpProgram(NodeId node)
{
    auto& program = GetPrograms(node).atp;
    if (!program)
    {
        program =
            std::make_unique<AtpNode>(*m_fabric->GetSwitch(node),
                                      m_fabric->GetPool(),
                                      m_contents,
                                      AtpSwitch::Config{.aggregators = m_atpAggregators,
                                                        .valueCount = ATP_VALUES,
                                                        .busyShare = m_atpBusyShare,
                                                        .window = m_atpWindow,
                                                        .computesSums = m_values != VALUES_SIZES});
    }
    return *program;
}

/**
 * Level 0 are the workers' bits, level 1 those of the switches that have any of them. Of the level
 * that counts at the next switch only this is known: workers' packets are of level 0, all others of
 * data of level 1.
 */
std::vector<uint8_t>
SlotAggregation::MakeAtpFrame(const FabricPacket& packet, NodeId sender, NodeId receiver)
{
    const auto& content = m_contents.Get(packet);
    const auto& atp = content.atp;
    const auto session = m_byNumber.find(atp.job);
    if (session == m_byNumber.end() || !session->second->server)
    {
        return {}; // of a job that is over
    }
    const auto& workers = session->second->workers;
    const auto& racks = session->second->racks;
    const bool isData = atp.stage == AtpStage::Data;
    const auto index = static_cast<uint16_t>(
        m_atpAggregators == 0 ? 0 : AtpSwitch::GetIndex(atp, m_atpAggregators));
    AtpWireHeader header{
        .bitmaps = {atp.bitmap, 0},
        .fanIns = {static_cast<uint8_t>(workers.size()), static_cast<uint8_t>(racks.size())},
        .overflow = atp.hasOverflowed,
        .ecn = atp.isCongested,
        .resend = atp.isResend,
        .collision = atp.hasCollided,
        .ack = !isData,
        .level = 0,
        .job = atp.job,
        .sequence = static_cast<uint16_t>(atp.sequence),
        .indices = {index, index}};
    for (size_t rack = 0; rack < racks.size(); ++rack)
    {
        header.bitmaps[1] |= (racks[rack] & atp.bitmap) != 0 ? 1U << rack : 0;
    }
    const bool isFromSwitch = m_topology->GetNodes()[sender].kind == NodeKind::Switch;
    header.level = isData && isFromSwitch ? 1 : 0;
    const auto address = [](uint32_t endpoint) {
        return AggregationAddress::FIRST_ENDPOINT + endpoint;
    };
    const auto first = static_cast<size_t>(std::countr_zero(atp.bitmap));
    const auto server = address(session->second->atpSettings.server);
    const auto worker = address(workers[std::min(first, workers.size() - 1)]->GetEndpoint());
    std::vector<uint8_t> frame(GetAtpFrameBytes(ATP_VALUES));
    WriteUdpHeaders(
        frame,
        {AggregationAddress::MakeMac(sender), isData ? worker : server},
        {AggregationAddress::MakeMac(receiver), isData ? server : address(packet.destination)},
        ATP_UDP_PORT);
    const bool isMarked = (packet.flags & PacketFlag::CONGESTION_EXPERIENCED) != 0;
    constexpr size_t DIFFSERV_AT = 15;
    frame[DIFFSERV_AT] = isMarked ? 3 : 2; // RFC 3168
    auto values = content.values;
    values.resize(ATP_VALUES); // zeros where only sizes matter
    WriteAtpPayload(frame, header, values);
    WriteChecksums(frame);
    return frame;
}

void
SlotAggregation::ReceiveAtp(const SlotPacket& content,
                            const FabricPacket& packet,
                            uint32_t endpoint)
{
    const auto found = m_byNumber.find(content.atp.job);
    if (found == m_byNumber.end() || !found->second->server)
    {
        return;
    }
    auto& session = *found->second;
    if (content.atp.stage == AtpStage::Data && endpoint == session.atpSettings.server)
    {
        OnServerData(session, content, packet);
        return;
    }
    const auto worker = std::ranges::find(session.workers, endpoint, [](const auto& entry) {
        return entry->GetEndpoint();
    });
    if (content.atp.stage == AtpStage::WorkerResult && worker != session.workers.end())
    {
        (*worker)->OnResult(content, m_statistics);
    }
}

void
SlotAggregation::OnServerData(Session& session,
                              const SlotPacket& content,
                              const FabricPacket& packet)
{
    ++m_statistics.serverPackets;
    auto header = content.atp;
    header.isCongested |= (packet.flags & PacketFlag::CONGESTION_EXPERIENCED) != 0;
    const auto* merged = session.server->Merge(header, content.values);
    if (!merged)
    {
        return;
    }
    auto* answer = m_fabric->GetPool().Take();
    *answer = packet;
    auto& answerContent = m_contents.Attach(*answer);
    answerContent.protocol = ProgramProtocol::Atp;
    answerContent.atp = merged->header;
    answerContent.atp.stage = AtpStage::Result;
    answerContent.values = merged->values;
    // Its own switch knows to whom it goes; the way there is that to any worker.
    const auto server = session.atpSettings.server;
    answer->destination = session.workers.front()->GetEndpoint();
    const auto port = m_fabric->ChooseEndpointPort(server, session.job.number, answer->destination);
    m_fabric->GetEndpoint(server).GetPort(port).SendData(answer, Simulator::Now().GetTimeStep());
}

} // namespace ns3::gradsync
