// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/p4-replication.h"

#include "ns3/p4-error.h"

#include <algorithm>
#include <fmt/format.h>

namespace ns3::gradsync
{

P4Replication::P4Replication(std::string file)
    : m_file(std::move(file))
{
}

void
P4Replication::ClearGroups()
{
    m_groups.clear();
    m_nodes.clear();
}

void
P4Replication::CreateGroup(uint32_t group)
{
    if (!m_groups.emplace(group, std::vector<uint32_t>{}).second)
    {
        throw P4Error(m_file, fmt::format("multicast group {} is there already", group));
    }
}

void
P4Replication::DestroyGroup(uint32_t group)
{
    for (const uint32_t node : FindMembers(group))
    {
        m_nodes[node]->group.reset();
    }
    m_groups.erase(group);
}

uint32_t
P4Replication::CreateNode(uint32_t replicationId, const std::vector<uint32_t>& ports)
{
    const auto free =
        std::find_if(m_nodes.begin(), m_nodes.end(), [](const auto& node) { return !node; });
    const auto handle = static_cast<uint32_t>(free - m_nodes.begin());
    if (free == m_nodes.end())
    {
        m_nodes.emplace_back();
    }
    m_nodes[handle] = Node{replicationId, {}, {}};
    UpdateNode(handle, ports);
    return handle;
}

void
P4Replication::UpdateNode(uint32_t node, const std::vector<uint32_t>& ports)
{
    // A node's ports are a set: each gets one copy, in ascending order.
    auto& sorted = FindNode(node).ports;
    sorted = ports;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
}

void
P4Replication::AssociateNode(uint32_t group, uint32_t node)
{
    auto& members = FindMembers(group);
    auto& found = FindNode(node);
    if (found.group)
    {
        throw P4Error(m_file,
                      fmt::format("node {} is in multicast group {} already", node, *found.group));
    }
    members.push_back(node);
    found.group = group;
}

void
P4Replication::DissociateNode(uint32_t group, uint32_t node)
{
    auto& members = FindMembers(group);
    auto& found = FindNode(node);
    if (found.group != group)
    {
        throw P4Error(m_file, fmt::format("node {} is not in multicast group {}", node, group));
    }
    std::erase(members, node);
    found.group.reset();
}

void
P4Replication::DestroyNode(uint32_t node)
{
    if (const auto group = FindNode(node).group)
    {
        DissociateNode(*group, node);
    }
    m_nodes[node].reset();
}

void
P4Replication::AddMirror(uint32_t session, uint32_t target, bool isGroup)
{
    m_mirrors[session] = {target, isGroup};
}

void
P4Replication::DeleteMirror(uint32_t session)
{
    if (m_mirrors.erase(session) == 0)
    {
        throw P4Error(m_file, fmt::format("there is no mirroring session {}", session));
    }
}

std::optional<std::pair<uint32_t, bool>>
P4Replication::GetMirror(uint32_t session) const
{
    const auto found = m_mirrors.find(session);
    if (found == m_mirrors.end())
    {
        return std::nullopt;
    }
    return std::pair(found->second.target, found->second.isGroup);
}

std::vector<P4Replica>
P4Replication::FindGroup(uint32_t group) const
{
    std::vector<P4Replica> replicas;
    const auto found = m_groups.find(group);
    if (found != m_groups.end())
    {
        for (const uint32_t node : found->second)
        {
            for (const uint32_t port : m_nodes[node]->ports)
            {
                replicas.push_back({port, m_nodes[node]->replicationId});
            }
        }
    }
    return replicas;
}

std::vector<P4Replica>
P4Replication::FindMirror(uint32_t session) const
{
    const auto found = m_mirrors.find(session);
    if (found == m_mirrors.end())
    {
        return {};
    }
    return found->second.isGroup ? FindGroup(found->second.target)
                                 : std::vector<P4Replica>{{found->second.target, 0}};
}

std::vector<uint32_t>&
P4Replication::FindMembers(uint32_t group)
{
    const auto found = m_groups.find(group);
    if (found == m_groups.end())
    {
        throw P4Error(m_file, fmt::format("there is no multicast group {}", group));
    }
    return found->second;
}

P4Replication::Node&
P4Replication::FindNode(uint32_t node)
{
    if (node >= m_nodes.size() || !m_nodes[node])
    {
        throw P4Error(m_file, fmt::format("there is no multicast node {}", node));
    }
    return *m_nodes[node];
}

} // namespace ns3::gradsync
