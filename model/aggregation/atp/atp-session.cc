// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/atp-session.h"

#include "ns3/aggregation-contents.h"
#include "ns3/atp-driver.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace ns3::gradsync
{

namespace
{

/// Of gradients before they are rounded.
constexpr float ATP_FACTOR = 1e6F;
/// Largest magnitude that this factor leaves to a worker: a tenth of int32.
constexpr double MOST_SENT = 213.0;

/// One bit for each of so many workers.
uint32_t
MakeBitmap(size_t workers)
{
    return static_cast<uint32_t>((uint64_t{1} << workers) - 1);
}

} // namespace

AtpSession::AtpSession(AtpDriver& driver, const AggregationGroup& group, uint32_t id)
    : AggregationSession(driver, group, id),
      m_settings{.server = group.server.value_or(0),
                 .maxWindow = driver.GetWindow(),
                 .firstTimeout = driver.GetFirstTimeout(),
                 .timeout = driver.GetTimeout()},
      m_server(MakeBitmap(group.endpoints.size()), driver.GetWindow())
{
}

void
AtpSession::Open()
{
    FillJob({.valueCount = ATP_VALUES,
             .headerBytes = AtpHeader::BYTES,
             .factor = ATP_FACTOR,
             .mostSent = MOST_SENT});
    AddRoles();
    const auto& endpoints = *GetEndpoints();
    for (uint32_t rank = 0; rank < endpoints.size(); ++rank)
    {
        const auto endpoint = endpoints[rank];
        AddWorker(std::make_unique<AtpWorker>(m_job,
                                              m_settings,
                                              static_cast<uint16_t>(rank),
                                              endpoint,
                                              ChoosePort(endpoint)));
    }
    GetHost().TakeSink(GetServer());
}

/// Its way to the server is that of the routes, which may be other ones now.
bool
AtpSession::IsHit(const AggregationOutage& /* outage */) const
{
    return true;
}

/// The server has all that counts: what is lost on the way is sent again in time.
bool
AtpSession::Rebuild()
{
    const auto before = m_adding;
    AddRoles();
    for (const auto& worker : GetWorkers())
    {
        worker->SetPort(ChoosePort(worker->GetEndpoint()));
    }
    return m_adding != before;
}

FabricPort&
AtpSession::ChoosePort(uint32_t endpoint) const
{
    auto& fabric = *GetNetwork().fabric;
    return fabric.GetEndpoint(endpoint).GetPort(
        fabric.ChooseEndpointPort(endpoint, m_job.number, GetServer()));
}

/// The first switch on the way of an endpoint into the network.
NodeId
AtpSession::FindLeaf(uint32_t endpoint) const
{
    const auto& topology = *GetNetwork().topology;
    std::vector<NodeId> open{topology.GetEndpoints()[endpoint]};
    std::vector<bool> seen(topology.GetNodes().size(), false);
    seen[open.front()] = true;
    for (size_t next = 0; next < open.size(); ++next)
    {
        for (const auto& port : topology.GetPorts(open[next]))
        {
            const auto kind = topology.GetNodes()[port.peer].kind;
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

std::map<NodeId, AtpNode::Role>
AtpSession::MakeRoles()
{
    const auto& outage = GetNetwork().outage;
    const auto serverLeaf = FindLeaf(GetServer());
    if (outage.switches.contains(serverLeaf))
    {
        throw std::invalid_argument("the switch of the parameter server does not aggregate");
    }
    m_adding.clear();
    std::map<NodeId, AtpNode::Role> roles;
    const auto& endpoints = *GetEndpoints();
    for (uint32_t rank = 0; rank < endpoints.size(); ++rank)
    {
        // What a switch does not do for its workers, the one of the server does.
        const auto leaf = FindLeaf(endpoints[rank]);
        auto& role = roles[outage.switches.contains(leaf) ? serverLeaf : leaf];
        role.all |= 1U << rank;
        role.workers.push_back(endpoints[rank]);
    }
    m_racks.clear();
    for (const auto& [node, role] : roles)
    {
        m_racks.push_back(role.all);
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
    return roles;
}

/// Of each switch.
uint64_t
AtpSession::GetMemoryBytes() const
{
    return BYTES_PER_VALUE * ATP_VALUES * static_cast<AtpDriver&>(GetDriver()).GetAggregators();
}

void
AtpSession::AddRoles()
{
    for (const auto& [node, role] : MakeRoles())
    {
        if (GetNetwork().foreign.contains(node))
        {
            continue; // its program and configuration do it all
        }
        // All jobs share all aggregators.
        TakeMemory(node, GetMemoryBytes(), true);
        auto& program = static_cast<AtpNode&>(AddNode(node));
        m_adding.insert(node);
        if (HasProgram(node))
        {
            program.AddJob(m_job.number, role);
        }
    }
}

AtpWireHeader
AtpSession::MakeWireHeader(const AtpHeader& atp, uint32_t aggregators) const
{
    const auto index =
        static_cast<uint16_t>(aggregators == 0 ? 0 : AtpSwitch::GetIndex(atp, aggregators));
    AtpWireHeader header{.bitmaps = {atp.bitmap, 0},
                         .fanIns = {static_cast<uint8_t>(GetEndpoints()->size()),
                                    static_cast<uint8_t>(m_racks.size())},
                         .overflow = atp.hasOverflowed,
                         .ecn = atp.isCongested,
                         .resend = atp.isResend,
                         .collision = atp.hasCollided,
                         .ack = atp.stage != AtpStage::Data,
                         .level = 0,
                         .job = atp.job,
                         .sequence = static_cast<uint16_t>(atp.sequence),
                         .indices = {index, index}};
    for (size_t rack = 0; rack < m_racks.size(); ++rack)
    {
        header.bitmaps[1] |= (m_racks[rack] & atp.bitmap) != 0 ? 1U << rack : 0;
    }
    return header;
}

void
AtpSession::Receive(const AggregationPacket& content, const FabricPacket& packet, uint32_t endpoint)
{
    const auto stage = content.As<AtpHeader>().stage;
    if (stage == AtpStage::Data && endpoint == GetServer())
    {
        OnServerData(content, packet);
        return;
    }
    const auto workers = GetWorkers();
    const auto worker = std::ranges::find(workers, endpoint, [](const auto& entry) {
        return entry->GetEndpoint();
    });
    if (stage == AtpStage::WorkerResult && worker != workers.end())
    {
        (*worker)->OnResult(content, GetNetwork().statistics);
    }
}

void
AtpSession::OnServerData(const AggregationPacket& content, const FabricPacket& packet)
{
    auto& network = GetNetwork();
    ++network.statistics.serverPackets;
    auto header = content.As<AtpHeader>();
    header.isCongested |= (packet.flags & PacketFlag::CONGESTION_EXPERIENCED) != 0;
    const auto* merged = m_server.Merge(header, content.values);
    if (!merged)
    {
        return;
    }
    auto* answer = network.fabric->GetPool().Take();
    *answer = packet;
    auto& answerContent = network.contents.Attach(*answer);
    answerContent.driver = content.driver;
    auto& answerHeader = answerContent.As<AtpHeader>();
    answerHeader = merged->header;
    answerHeader.stage = AtpStage::Result;
    answerContent.values = merged->values;
    // Its own switch knows to whom it goes; the way there is that to any worker.
    answer->destination = GetEndpoints()->front();
    const auto port =
        network.fabric->ChooseEndpointPort(GetServer(), m_job.number, answer->destination);
    network.fabric->GetEndpoint(GetServer())
        .GetPort(port)
        .SendData(answer, Simulator::Now().GetTimeStep());
}

} // namespace ns3::gradsync
