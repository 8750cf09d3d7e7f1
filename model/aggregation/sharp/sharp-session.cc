// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/sharp-session.h"

#include "ns3/aggregation-contents.h"
#include "ns3/aggregation-load.h"
#include "ns3/sharp-driver.h"
#include "ns3/sharp-limits.h"
#include "ns3/tree-node.h"

#include <fmt/format.h>
#include <set>

namespace ns3::gradsync
{

SharpSession::SharpSession(SharpDriver& driver, const AggregationGroup& group, uint32_t id)
    : TreeWorkerSession(driver, group, id),
      m_driver(driver),
      m_kind(SharpDriver::GetTree(group.protocol))
{
}

void
SharpSession::Open()
{
    FillJob({.valueCount = static_cast<uint16_t>(m_driver.GetValueCount()),
             .headerBytes = 0,
             .factor = 0.0F,
             .mostSent = {},
             .addsFloats = true});
    m_settings = {.credits = m_driver.GetCredits(m_kind),
                  .headerBytes = m_driver.GetHeaderBytes(),
                  .timeout = m_driver.GetTimeout(),
                  .silence = "no result of SHARP"};
    TakeTree();
    AddMembers();
}

TreeSession::Memory
SharpSession::GetMemory(const SwitchTree::Hop& /* hop */) const
{
    return {TreeNode::CountEntries(m_settings.credits) * BYTES_PER_VALUE * m_driver.GetValueCount(),
            false};
}

/// Where several switches may be the root, one for which the manager has a tree.
void
SharpSession::TakeTree()
{
    std::set<NodeId> tried;
    for (;;)
    {
        BuildTree();
        try
        {
            m_driver.GetManager().Take(GetId(), m_kind, m_driver.GetQuota(m_kind), ListHops());
            return;
        }
        catch (const AggregationDenied&)
        {
            ReleaseMemory();
            if (!tried.insert(GetTree().hops.front().node).second)
            {
                throw;
            }
            TakeNextTurn();
        }
    }
}

/// The switches that aggregate, with the ports of the tree.
std::vector<SharpManager::Hop>
SharpSession::ListHops() const
{
    std::vector<SharpManager::Hop> hops;
    for (const auto& hop : GetTree().hops)
    {
        if (!m_adding.contains(hop.node))
        {
            continue;
        }
        std::set<uint16_t> ports;
        for (const auto& child : hop.children)
        {
            ports.insert(child.port);
        }
        if (hop.up)
        {
            ports.insert(*hop.up);
        }
        hops.push_back({hop.node, GetNetwork().topology->GetNodes()[hop.node].name, ports});
    }
    return hops;
}

void
SharpSession::Contribute(const AggregationMessage& message)
{
    if (m_kind == SharpTree::Streaming && message.bytes > SHARP_MAX_STREAMING_BYTES)
    {
        message.handler->OnFailed(
            message.tag,
            fmt::format("a message of {} bytes, but a streaming tree of SHARP "
                        "takes at most {}",
                        message.bytes,
                        SHARP_MAX_STREAMING_BYTES));
        return;
    }
    TreeWorkerSession::Contribute(message);
}

std::optional<AggregationLoad>
SharpSession::DescribeLoad() const
{
    auto load = MakeLoad({static_cast<double>(m_driver.GetHeaderBytes()),
                          1.0,
                          static_cast<uint32_t>(BYTES_PER_VALUE * m_driver.GetValueCount())});
    load.window = m_driver.GetCredits(m_kind);
    return load;
}

void
SharpSession::ReleaseMemory()
{
    TreeWorkerSession::ReleaseMemory();
    m_driver.GetManager().Return(GetId());
}

} // namespace ns3::gradsync
