// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/tree-worker-session.h"

#include "ns3/tree-header.h"
#include "ns3/tree-node.h"

#include <memory>
#include <utility>

namespace ns3::gradsync
{

void
TreeWorkerSession::AddMembers()
{
    for (uint32_t rank = 0; rank < GetEndpoints()->size(); ++rank)
    {
        auto worker = std::make_unique<TreeWorker>(m_job,
                                                   m_settings,
                                                   static_cast<uint16_t>(rank),
                                                   GetEndpoints()->at(rank),
                                                   GetMemberPort(rank));
        m_members.push_back(worker.get());
        AddWorker(std::move(worker));
    }
    AddRoles(TreeNode::CountEntries(m_settings.credits));
}

void
TreeWorkerSession::AddRole(AggregationNode& node, const AggregationRole& role)
{
    static_cast<TreeNode&>(node).AddJob(GetNumber(), role);
}

void
TreeWorkerSession::Receive(const AggregationPacket& packet, uint32_t endpoint) const
{
    const auto& header = packet.As<TreeHeader>();
    if (header.isResult && header.child < m_members.size() &&
        m_members[header.child]->GetEndpoint() == endpoint)
    {
        m_members[header.child]->OnResult(packet, GetNetwork().statistics);
    }
}

/// The new switches know of nothing: all that any worker lacks is sent again.
bool
TreeWorkerSession::Rebuild()
{
    GetHost().TakeNumber(*this);
    TakeTree();
    AddRoles(TreeNode::CountEntries(m_settings.credits));
    for (uint32_t member = 0; member < m_members.size(); ++member)
    {
        m_members[member]->SetPort(GetMemberPort(member));
    }
    TreeWorker::Restart(m_members);
    return true;
}

} // namespace ns3::gradsync
