// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/node-names.h"

#include "ns3/nearest-name.h"

#include <fmt/format.h>
#include <set>
#include <vector>

namespace ns3::gradsync
{

NodeNames
NodeNames::OfEndpoints(const Topology& topology)
{
    NodeNames names;
    names.m_what = "endpoint";
    names.m_numbered = true;
    for (uint32_t i = 0; i < topology.GetEndpoints().size(); ++i)
    {
        names.m_index[topology.GetNodes()[topology.GetEndpoints()[i]].name] = i;
    }
    return names;
}

NodeNames
NodeNames::OfForwarders(const Topology& topology)
{
    NodeNames names;
    names.m_what = "switch";
    for (NodeId node = 0; node < topology.GetNodes().size(); ++node)
    {
        if (!IsEndpoint(topology.GetNodes()[node].kind))
        {
            names.m_index[topology.GetNodes()[node].name] = node;
        }
    }
    return names;
}

NodeNames
NodeNames::OfAll(const Topology& topology)
{
    NodeNames names;
    names.m_what = "node";
    for (NodeId node = 0; node < topology.GetNodes().size(); ++node)
    {
        names.m_index[topology.GetNodes()[node].name] = node;
    }
    return names;
}

uint32_t
NodeNames::Read(const JsonValue& value) const
{
    if (m_numbered && !value.IsString())
    {
        return static_cast<uint32_t>(value.AsUnsigned(0, m_index.size() - 1));
    }
    const auto name = value.AsName();
    const auto found = m_index.find(name);
    if (found != m_index.end())
    {
        return found->second;
    }
    std::vector<std::string> names;
    for (const auto& [known, index] : m_index)
    {
        names.push_back(known);
    }
    value.FailWith(fmt::format("no {} has the name {}{}",
                               m_what,
                               ShowJson(value.Get()),
                               SuggestName(name, names)));
}

std::vector<uint32_t>
NodeNames::ReadList(const JsonValue& list) const
{
    std::set<uint32_t> indices;
    for (const auto& item : list.GetItems())
    {
        if (!indices.insert(Read(item)).second)
        {
            item.FailWith(fmt::format("{} is listed twice", ShowJson(item.Get())));
        }
    }
    return {indices.begin(), indices.end()};
}

std::vector<uint32_t>
ReadLinkNames(const JsonValue& list, const Topology& topology)
{
    const auto names = NodeNames::OfAll(topology);
    std::set<uint32_t> links;
    for (const auto& item : list.GetItems())
    {
        const auto ends = item.GetItems();
        if (ends.size() != 2)
        {
            item.Fail("two names of nodes: [\"leaf0\", \"spine1\"]");
        }
        const auto a = names.Read(ends[0]);
        const auto b = names.Read(ends[1]);
        const auto before = links.size();
        for (const auto& port : topology.GetPorts(a))
        {
            if (port.peer == b)
            {
                links.insert(port.link);
            }
        }
        if (links.size() == before)
        {
            item.FailWith(fmt::format("there is no link between them, or it is listed twice"));
        }
    }
    return {links.begin(), links.end()};
}

} // namespace ns3::gradsync
