// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SHARP_DRIVER_H
#define GRADSYNC_SHARP_DRIVER_H

#include "ns3/nstime.h"
#include "ns3/sharp-manager.h"
#include "ns3/tree-driver.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3::gradsync
{

/// SHARP: trees of aggregating InfiniBand switches, which a manager gives to jobs
/// (doc/aggregation.rst). Protocols sharp-sat (streaming) and sharp-llt (low latency). Native only.
class SharpDriver final : public TreeDriver
{
  public:
    static TypeId GetTypeId();

    SharpDriver();

    /// The kind of tree of a protocol.
    static SharpTree GetTree(const std::string& protocol);

    std::unique_ptr<AggregationSession> MakeSession(const AggregationGroup& group,
                                                    uint32_t id) override;
    std::unique_ptr<AggregationNode> MakeNode(NodeId node) override;

    SharpManager& GetManager()
    {
        return m_manager;
    }

    /// Packets that a worker has under way.
    uint32_t GetCredits(SharpTree tree) const;
    /// In percent of each switch.
    uint32_t GetQuota(SharpTree tree) const;

  protected:
    void DoInstall() override;

  private:
    SharpGeneration m_generation;
    uint32_t m_groupTransactions;
    uint32_t m_streamPackets;
    uint32_t m_lltQuota;
    uint32_t m_satQuota;
    SharpManager m_manager;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SHARP_DRIVER_H
