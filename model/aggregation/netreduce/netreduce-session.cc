// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/netreduce-session.h"

#include "ns3/aggregation-contents.h"
#include "ns3/aggregation-load.h"
#include "ns3/netreduce-driver.h"
#include "ns3/netreduce-header.h"
#include "ns3/netreduce-node.h"
#include "ns3/roce-transport.h"
#include "ns3/wire-format.h"

#include <memory>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Of gradients before they are rounded, as PASSING's.
constexpr float NETREDUCE_FACTOR = 1e8F;

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

NetReduceSession::NetReduceSession(NetReduceDriver& driver,
                                   const AggregationGroup& group,
                                   uint32_t id)
    : TreeSession(driver, group, id),
      m_driver(driver)
{
}

void
NetReduceSession::Open()
{
    FillJob({.valueCount = static_cast<uint16_t>(m_driver.GetValueCount()),
             .headerBytes = 0,
             .factor = NETREDUCE_FACTOR,
             .mostSent = {}});
    m_job.headerEvery = m_driver.GetMessagePackets();
    m_job.headerBytes = NetReduceHeader::BYTES;
    m_job.countsBytes = false;
    m_settings = {.transport = GetNetwork().transport,
                  .stream = NetworkAggregation::FIRST_STREAM + GetId(),
                  .messagePackets = m_driver.GetMessagePackets(),
                  .window = m_driver.GetWindow()};
    BuildTree();
    AddWorkers();
    LinkRing();
    AddRoles(GetKeptPackets());
}

/// Of each box.
uint32_t
NetReduceSession::GetKeptPackets() const
{
    return 2 * m_driver.GetWindow() * m_driver.GetMessagePackets();
}

/// One sum for each number that it keeps.
TreeSession::Memory
NetReduceSession::GetMemory(const SwitchTree::Hop& /* hop */) const
{
    return {GetKeptPackets() * BYTES_PER_VALUE * m_driver.GetValueCount(), false};
}

void
NetReduceSession::AddWorkers()
{
    for (uint32_t rank = 0; rank < GetEndpoints()->size(); ++rank)
    {
        const auto endpoint = GetEndpoints()->at(rank);
        auto worker = std::make_unique<NetReduceWorker>(m_job,
                                                        m_settings,
                                                        static_cast<uint16_t>(rank),
                                                        endpoint,
                                                        GetMemberPort(rank));
        m_rankOf[endpoint] = rank;
        m_workers.push_back(worker.get());
        AddWorker(std::move(worker));
    }
}

/// In the order of the tree, so that one connection enters each of its parts and one leaves it.
void
NetReduceSession::LinkRing()
{
    std::vector<uint32_t> ring;
    ListMembers(GetTree(), 0, ring);
    for (size_t i = 0; i < ring.size(); ++i)
    {
        const auto next = ring[(i + 1) % ring.size()];
        m_workers[ring[i]]->SetNext(GetEndpoints()->at(next));
    }
}

/// A connection enters each part of the tree and one leaves it, with the acknowledgements of the
/// other beside it.
std::optional<AggregationLoad>
NetReduceSession::DescribeLoad() const
{
    const auto& transport = *GetNetwork().transport;
    const auto packets = m_driver.GetMessagePackets();
    const auto every = transport.GetAckEvery();
    const auto acks = every == 0 ? 0 : (packets + every - 1) / every;
    constexpr double OVERHEAD = wire::PREAMBLE_BYTES + wire::ROCE_HEADER_BYTES + wire::GAP_BYTES;
    const double shared = NetReduceHeader::BYTES + acks * wire::ROCE_ACK_BYTES; // by a message
    auto load = MakeLoad({OVERHEAD + shared / packets, 1.0, transport.GetMtuBytes()});
    load.firstLinks.clear(); // queue pairs take turns
    load.messagePackets = packets;
    load.messageHeaderBytes = NetReduceHeader::BYTES;
    load.window = m_driver.GetWindow();
    return load;
}

void
NetReduceSession::AddRole(AggregationNode& node, const AggregationRole& role)
{
    static_cast<NetReduceNode&>(node).AddJob(GetNumber(), role, m_firstPacket);
}

/**
 * The new boxes know of nothing: all messages from the first on that any worker lacks are sent
 * again, over connections that begin anew.
 */
bool
NetReduceSession::Rebuild()
{
    GetHost().TakeNumber(*this);
    m_firstPacket = UINT64_MAX;
    for (auto* worker : m_workers)
    {
        if (!worker->IsHalted() && worker->GetDone() < m_firstPacket)
        {
            m_firstPacket = worker->GetMessageStart(worker->GetDone());
        }
    }
    BuildTree();
    LinkRing();
    AddRoles(GetKeptPackets());
    for (auto* worker : m_workers)
    {
        if (!worker->IsHalted())
        {
            worker->Restart(m_firstPacket);
        }
    }
    return true;
}

void
NetReduceSession::Equip(FabricPacket& packet, uint32_t endpoint, const MessagePlace& place)
{
    const auto* worker = m_workers[m_rankOf.at(endpoint)];
    const auto flags = packet.flags;
    const auto feedback = packet.feedback;
    auto& content = GetNetwork().contents.Attach(packet);
    packet.flags |= flags;
    worker->Equip(content, packet, place);
    content.As<NetReduceHeader>().feedback = feedback;
}

uint16_t
NetReduceSession::GetSendingPort(uint32_t endpoint) const
{
    return GetTree().memberPorts[m_rankOf.at(endpoint)];
}

} // namespace ns3::gradsync
