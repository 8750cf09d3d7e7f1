// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/nvls-session.h"

#include "ns3/aggregation-contents.h"
#include "ns3/aggregation-load.h"
#include "ns3/nvls-driver.h"
#include "ns3/nvls-node.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// The port of a node to which a link leads.
uint16_t
FindPort(const Topology& topology, NodeId node, LinkId link)
{
    const auto ports = topology.GetPorts(node);
    return static_cast<uint16_t>(std::ranges::find(ports, link, &Adjacency::link) - ports.begin());
}

} // namespace

NvlsSession::NvlsSession(NvlsDriver& driver, const AggregationGroup& group, uint32_t id)
    : AggregationSession(driver, group, id),
      m_driver(driver),
      m_turn(GetHost().TakeTurn())
{
}

void
NvlsSession::Open()
{
    FillJob({.valueCount = static_cast<uint16_t>(m_driver.GetValueCount()),
             .headerBytes = 0,
             .factor = 0.0F,
             .mostSent = {},
             .addsFloats = true});
    m_settings = {.flow = GetGroup().flow,
                  .root = static_cast<uint16_t>(GetGroup().root),
                  .window = m_driver.GetWindow(),
                  .headerBytes = m_driver.GetHeaderBytes(),
                  .timeout = m_driver.GetTimeout(),
                  .statistics = &GetNetwork().statistics};
    ChooseSwitch();
    for (uint32_t member = 0; member < GetEndpoints()->size(); ++member)
    {
        const auto endpoint = GetEndpoints()->at(member);
        auto& port = GetNetwork().fabric->GetEndpoint(endpoint).GetPort(m_links[member].memberPort);
        auto worker = std::make_unique<NvlsWorker>(m_job,
                                                   m_settings,
                                                   static_cast<uint16_t>(member),
                                                   endpoint,
                                                   port);
        m_workers.push_back(worker.get());
        AddWorker(std::move(worker));
    }
    AddRole();
}

/// Of the members to a node, the first of each; empty: not all have one.
std::vector<NvlsSession::Link>
NvlsSession::FindLinks(NodeId node) const
{
    const auto& topology = *GetNetwork().topology;
    const auto& down = GetNetwork().outage.links;
    std::vector<Link> links;
    for (const auto endpoint : *GetEndpoints())
    {
        const auto ports = topology.GetPorts(topology.GetEndpoints()[endpoint]);
        const auto found = std::ranges::find_if(ports, [&](const Adjacency& port) {
            return port.peer == node && (down.empty() || !down[port.link]);
        });
        if (found == ports.end())
        {
            return {};
        }
        links.push_back({found->link,
                         static_cast<uint16_t>(found - ports.begin()),
                         FindPort(topology, node, found->link)});
    }
    return links;
}

/// One to which all members have links. Of several, groups take turns.
void
NvlsSession::ChooseSwitch()
{
    const auto& network = GetNetwork();
    const auto nodes = network.topology->GetNodes();
    std::vector<std::pair<NodeId, std::vector<Link>>> candidates;
    for (NodeId node = 0; node < nodes.size(); ++node)
    {
        const bool adds =
            nodes[node].kind == NodeKind::NvSwitch || nodes[node].kind == NodeKind::Switch;
        const auto& asked = GetGroup().rootSwitch;
        if (!adds || network.outage.switches.contains(node) || (asked && *asked != node))
        {
            continue;
        }
        auto links = FindLinks(node);
        if (!links.empty())
        {
            candidates.emplace_back(node, std::move(links));
        }
    }
    if (candidates.empty())
    {
        const auto& first = nodes[network.topology->GetEndpoints()[GetEndpoints()->front()]];
        throw std::invalid_argument(fmt::format(
            "NVLS needs a switch to which all of a group have a link, and there is none "
            "for the {} of {}",
            GetEndpoints()->size(),
            first.name));
    }
    std::tie(m_switch, m_links) = candidates[m_turn % candidates.size()];
    m_adding = {m_switch};
}

void
NvlsSession::AddRole()
{
    auto& node = static_cast<NvlsNode&>(AddNode(m_switch));
    if (!HasProgram(m_switch))
    {
        return;
    }
    NvlsNode::Job job{{}, GetGroup().root, GetGroup().flow == AggregationFlow::Reduce};
    for (size_t member = 0; member < m_links.size(); ++member)
    {
        job.members.push_back({GetEndpoints()->at(member), m_links[member].switchPort});
    }
    node.AddJob(GetNumber(), std::move(job));
}

bool
NvlsSession::IsHit(const AggregationOutage& outage) const
{
    return outage.switches.contains(m_switch) ||
           (!outage.links.empty() && std::ranges::any_of(m_links, [&outage](const Link& link) {
               return outage.links[link.link];
           }));
}

/**
 * Each packet of data goes with a header alone, which is its request or its acknowledgement. Of a
 * reduction the root asks, all answer, and it gets the sum; of a multicast it writes, all get that
 * and answer, and it gets a word in the end.
 */
std::optional<AggregationLoad>
NvlsSession::DescribeLoad() const
{
    const auto& topology = *GetNetwork().topology;
    const double header = m_driver.GetHeaderBytes();
    const bool isReduce = GetGroup().flow == AggregationFlow::Reduce;
    AggregationLoad load;
    load.payloadBytes = static_cast<uint32_t>(BYTES_PER_VALUE * m_driver.GetValueCount());
    load.adders.push_back({m_switch, static_cast<uint32_t>(m_links.size()), 0.0});
    load.isRequested = true;
    load.window = m_driver.GetWindow();
    double perByte = 0.0;
    double delay = 0.0;
    for (uint32_t member = 0; member < m_links.size(); ++member)
    {
        const auto& link = topology.GetLinks()[m_links[member].link];
        const uint32_t up = 2 * m_links[member].link + (link.b == m_switch ? 0 : 1);
        const double own = member == GetGroup().root ? 1.0 : 0.0; // packets of the root beside
        load.uses.push_back({up, (1.0 + own) * header, isReduce ? 1.0 : own});
        load.uses.push_back({up ^ 1U, (1.0 + own) * header, isReduce ? own : 1.0});
        perByte = std::max(perByte, 8.0 / static_cast<double>(link.rate.GetBitRate()));
        delay = std::max(delay, link.delay.GetSeconds());
    }
    // There and back twice: a header alone on two of the four links, data on the others.
    load.roundTrip = {4.0 * (delay + perByte * header), 2.0 * perByte};
    load.tail = {2.0 * delay + perByte * header, perByte};
    return load;
}

bool
NvlsSession::Rebuild()
{
    GetHost().TakeNumber(*this);
    ChooseSwitch();
    AddRole();
    for (size_t member = 0; member < m_workers.size(); ++member)
    {
        const auto endpoint = m_workers[member]->GetEndpoint();
        m_workers[member]->SetPort(
            GetNetwork().fabric->GetEndpoint(endpoint).GetPort(m_links[member].memberPort));
    }
    for (auto* worker : m_workers)
    {
        worker->Restart();
    }
    return true;
}

} // namespace ns3::gradsync
