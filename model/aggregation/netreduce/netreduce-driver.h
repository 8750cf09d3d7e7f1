// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NETREDUCE_DRIVER_H
#define GRADSYNC_NETREDUCE_DRIVER_H

#include "ns3/aggregation-driver.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::gradsync
{

/// NetReduce: boxes beside the switches, in the way of RoCE messages between workers
/// (doc/aggregation.rst). Native only.
class NetReduceDriver final : public AggregationDriver
{
  public:
    static TypeId GetTypeId();

    void Check(const AggregationGroup& group) const override;
    std::unique_ptr<AggregationSession> MakeSession(const AggregationGroup& group,
                                                    uint32_t id) override;
    std::unique_ptr<AggregationNode> MakeNode(NodeId node) override;
    void Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now) override;
    uint32_t CountValues(const AggregationPacket& content) const override;
    /// What is in a RoCE packet.
    std::vector<uint8_t> MakeFrame(const FabricPacket& packet,
                                   NodeId sender,
                                   NodeId receiver) override;

    /// Of a full message.
    uint32_t GetMessagePackets() const
    {
        return m_messagePackets;
    }

    /// Messages that a worker may have under way.
    uint32_t GetWindow() const
    {
        return m_window;
    }

    /// Integers of a full packet.
    uint32_t GetValueCount() const;

  private:
    uint32_t m_messagePackets;
    uint32_t m_window;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NETREDUCE_DRIVER_H
