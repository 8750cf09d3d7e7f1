// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/sharp-session.h"

#include "ns3/aggregation-contents.h"
#include "ns3/sharp-driver.h"
#include "ns3/sharp-limits.h"
#include "ns3/sharp-node.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <set>
#include <utility>

namespace ns3::gradsync
{

SharpSession::SharpSession(SharpDriver& driver, const AggregationGroup& group, uint32_t id)
    : TreeSession(driver, group, id),
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
             .mostSent = {}});
    m_settings = {.credits = m_driver.GetCredits(m_kind),
                  .headerBytes = m_driver.GetHeaderBytes(),
                  .timeout = m_driver.GetTimeout()};
    TakeTree();
    for (uint32_t rank = 0; rank < GetEndpoints()->size(); ++rank)
    {
        auto worker = std::make_unique<SharpWorker>(m_job,
                                                    m_settings,
                                                    static_cast<uint16_t>(rank),
                                                    GetEndpoints()->at(rank),
                                                    GetMemberPort(rank));
        m_workers.push_back(worker.get());
        AddWorker(std::move(worker));
    }
    AddRoles(CountEntries());
}

/// Of each switch: see SharpNode.
uint32_t
SharpSession::CountEntries() const
{
    return 2 * m_driver.GetCredits(m_kind);
}

TreeSession::Memory
SharpSession::GetMemory() const
{
    return {CountEntries() * BYTES_PER_VALUE * m_driver.GetValueCount(), false};
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
SharpSession::AddRole(AggregationNode& node, const AggregationRole& role)
{
    static_cast<SharpNode&>(node).AddJob(GetNumber(), role);
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
    TreeSession::Contribute(message);
}

/// The new switches know of nothing: all that any worker lacks is sent again.
bool
SharpSession::Rebuild()
{
    GetHost().TakeNumber(*this);
    TakeTree();
    uint64_t first = UINT64_MAX;
    for (const auto* worker : m_workers)
    {
        first = worker->IsHalted() ? first : std::min(first, worker->GetFirstMissing());
    }
    AddRoles(CountEntries());
    for (uint32_t member = 0; member < m_workers.size(); ++member)
    {
        m_workers[member]->SetPort(GetMemberPort(member));
    }
    for (auto* worker : m_workers)
    {
        if (!worker->IsHalted())
        {
            worker->Restart(first);
        }
    }
    return true;
}

void
SharpSession::ReleaseMemory()
{
    TreeSession::ReleaseMemory();
    m_driver.GetManager().Return(GetId());
}

} // namespace ns3::gradsync
