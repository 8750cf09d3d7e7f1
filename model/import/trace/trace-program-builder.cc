// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/trace-program-builder.h"

#include "ns3/import-error.h"
#include "ns3/trace-circles.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// Of a name, in messages and tables: those of kernels are long.
constexpr size_t SHOWN_CHARACTERS = 60;

std::string
NameAction(TraceAction action)
{
    switch (action)
    {
    case TraceAction::Compute:
        return "compute";
    case TraceAction::Host:
        return "host";
    case TraceAction::Join:
        return "join";
    case TraceAction::Collective:
        return "collective";
    case TraceAction::Send:
    case TraceAction::Receive:
        return "message";
    }
    return "";
}

} // namespace

const char*
GetTraceCollectiveName(TraceCollective collective)
{
    switch (collective)
    {
    case TraceCollective::AllReduce:
        return "all-reduce";
    case TraceCollective::AllGather:
        return "all-gather";
    case TraceCollective::ReduceScatter:
        return "reduce-scatter";
    case TraceCollective::AllToAll:
        return "all-to-all";
    case TraceCollective::Broadcast:
        return "broadcast";
    case TraceCollective::Reduce:
        return "reduce";
    case TraceCollective::Barrier:
        return "barrier";
    }
    return "";
}

std::string
CleanTraceName(std::string_view name)
{
    std::string clean(name.substr(0, SHOWN_CHARACTERS));
    for (auto& character : clean)
    {
        const bool isPlain = character >= ' ' && character <= '~' && character != '"';
        character = isPlain ? character : '?';
    }
    return clean;
}

TraceProgramBuilder::TraceProgramBuilder(std::string file)
    : m_file(std::move(file))
{
}

void
TraceProgramBuilder::Fail(const std::string& text) const
{
    throw ImportError(fmt::format("{}: {}", m_file, text));
}

std::string
TraceProgramBuilder::Locate(uint64_t id, std::string_view name) const
{
    return fmt::format("node {} \"{}\" of {}", id, CleanTraceName(name), m_file);
}

uint32_t
TraceProgramBuilder::AddLabel(std::string_view name, TraceAction action)
{
    auto label = CleanTraceName(name);
    if (label.empty() || (m_labels.size() >= MAX_LABELS && !m_labels.contains(label)))
    {
        label = NameAction(action);
    }
    const auto [found, isNew] =
        m_labels.try_emplace(std::move(label), static_cast<uint32_t>(m_program.labels.size()));
    if (isNew)
    {
        m_program.labels.push_back(found->first);
    }
    return found->second;
}

uint32_t
TraceProgramBuilder::AddGroup(const std::string& name)
{
    auto& groups = m_program.groups;
    const auto found = std::ranges::find(groups, name);
    if (found != groups.end())
    {
        return static_cast<uint32_t>(found - groups.begin());
    }
    groups.push_back(name);
    return static_cast<uint32_t>(groups.size() - 1);
}

void
TraceProgramBuilder::Add(uint64_t id,
                         std::string_view name,
                         TraceNode node,
                         std::span<const uint64_t> dependencies)
{
    if (m_program.nodes.size() >= MAX_TRACE_NODES ||
        m_dependencies.size() + dependencies.size() >= std::numeric_limits<uint32_t>::max())
    {
        Fail(fmt::format("has more than {} nodes, or 2^32 dependencies", MAX_TRACE_NODES));
    }
    node.label = AddLabel(name, node.action);
    m_program.nodes.push_back(node);
    m_ids.push_back(id);
    m_dependencies.insert(m_dependencies.end(), dependencies.begin(), dependencies.end());
    m_dependencyEnd.push_back(static_cast<uint32_t>(m_dependencies.size()));
}

/// Ids become places.
void
TraceProgramBuilder::Resolve()
{
    std::vector<uint32_t> byId(m_ids.size());
    std::iota(byId.begin(), byId.end(), 0);
    std::ranges::sort(byId, {}, [this](uint32_t node) { return m_ids[node]; });
    const auto twice = std::ranges::adjacent_find(byId, [this](uint32_t left, uint32_t right) {
        return m_ids[left] == m_ids[right];
    });
    if (twice != byId.end())
    {
        Fail(fmt::format("two nodes have the id {}", m_ids[*twice]));
    }
    const auto locate = [this](uint32_t node) {
        return Locate(m_ids[node], m_program.labels[m_program.nodes[node].label]);
    };
    uint32_t next = 0;
    for (uint32_t node = 0; node < m_ids.size(); ++node)
    {
        for (; next < m_dependencyEnd[node]; ++next)
        {
            const auto id = m_dependencies[next];
            const auto found = std::ranges::lower_bound(byId, id, {}, [this](uint32_t other) {
                return m_ids[other];
            });
            if (found == byId.end() || m_ids[*found] != id)
            {
                m_issues.Add("dependencies on nodes that are not there",
                             fmt::format("on node {}, of {}", id, locate(node)));
            }
            else if (*found == node)
            {
                m_issues.Add("dependencies of nodes on themselves", locate(node));
            }
            else
            {
                m_program.edges.emplace_back(*found, node);
            }
        }
    }
}

TraceProgram
TraceProgramBuilder::Finish()
{
    Resolve();
    for (const auto& [earlier, later] : CutCircles(m_program.nodes.size(), m_program.edges))
    {
        m_issues.Add(
            "dependencies that close a circle",
            fmt::format("on node {}, of {}",
                        m_ids[earlier],
                        Locate(m_ids[later], m_program.labels[m_program.nodes[later].label])));
    }
    m_program.edges.shrink_to_fit();
    return std::exchange(m_program, {});
}

} // namespace ns3::gradsync
