// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TREE_WORKER_SESSION_H
#define GRADSYNC_TREE_WORKER_SESSION_H

#include "ns3/aggregation-contents.h"
#include "ns3/tree-session.h"
#include "ns3/tree-worker.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/// A session of switches that are TreeNodes and of members that are TreeWorkers.
class TreeWorkerSession : public TreeSession
{
  public:
    using TreeSession::TreeSession;

    bool Rebuild() override;

    /// A packet has come to an endpoint.
    void Receive(const AggregationPacket& packet, uint32_t endpoint) const;

  protected:
    /// After BuildTree: workers and the parts of the switches. Needs m_settings.
    void AddMembers();

    void AddRole(AggregationNode& node, const AggregationRole& role) override;

    TreeWorker::Settings m_settings{};

  private:
    /// Builds a tree for which all that is needed was got; as BuildTree.
    virtual void TakeTree() = 0;

    std::vector<TreeWorker*> m_members; //!< all
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TREE_WORKER_SESSION_H
