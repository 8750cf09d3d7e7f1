// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ATP_DRIVER_H
#define GRADSYNC_ATP_DRIVER_H

#include "ns3/aggregation-driver.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::gradsync
{

/// ATP: switches aggregate as far as they have room, the parameter server of a group the rest
/// (doc/aggregation.rst). Native only.
class AtpDriver final : public AggregationDriver
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

    /// Of a switch.
    uint32_t GetAggregators() const
    {
        return m_aggregators;
    }

    /// Most packets that a worker has under way.
    uint32_t GetWindow() const
    {
        return m_window;
    }

    const Time& GetFirstTimeout() const
    {
        return m_firstTimeout;
    }

    const Time& GetTimeout() const
    {
        return m_timeout;
    }

  private:
    uint32_t m_aggregators;
    double m_busyShare;
    uint32_t m_window;
    Time m_firstTimeout;
    Time m_timeout;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ATP_DRIVER_H
