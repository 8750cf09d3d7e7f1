// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SHARP_NODE_H
#define GRADSYNC_SHARP_NODE_H

#include "ns3/tree-node.h"

namespace ns3::gradsync
{

/// An aggregation node of SHARP, which adds packets as they come, in no time.
class SharpNode final : public TreeNode
{
  public:
    /// All must outlive this. \param computesSums false: only sizes matter, values are empty
    /// \param addsFloats values are the bits of floats
    SharpNode(FabricSwitch& forwarder,
              PacketPool& pool,
              AggregationContents& contents,
              bool computesSums,
              bool addsFloats);

  private:
    void OnPacket(FabricPacket* packet, Job& job, uint16_t port, TimeStepCount now) override;
    void Add(const AggregationPacket& content, const Job& job, Entry& entry);

    bool m_computesSums;
    bool m_addsFloats;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SHARP_NODE_H
