// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MIRROR_DRIVER_H
#define GRADSYNC_MIRROR_DRIVER_H

#include "ns3/aggregation-driver.h"
#include "ns3/slot-driver.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::gradsync
{

/// A protocol with the slots and packets of SwitchML, in a pool of its own at every switch.
class MirrorDriver final : public AggregationDriver
{
  public:
    static TypeId GetTypeId();

    void Check(const AggregationGroup& group) const override;
    std::unique_ptr<AggregationSession> MakeSession(const AggregationGroup& group,
                                                    uint32_t id) override;
    std::unique_ptr<AggregationNode> MakeNode(NodeId node) override;
    void Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now) override;
    uint32_t CountValues(const AggregationPacket& content) const override;
    std::vector<uint8_t> MakeFrame(const FabricPacket& packet,
                                   NodeId sender,
                                   NodeId receiver) override;

  protected:
    void DoInstall() override;
    void DoDispose() override;

  private:
    uint32_t m_slots;
    Ptr<SlotDriver> m_protocol;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_MIRROR_DRIVER_H
