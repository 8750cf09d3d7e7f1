// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FLARE_DRIVER_H
#define GRADSYNC_FLARE_DRIVER_H

#include "ns3/aggregation-driver.h"
#include "ns3/block-sum.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// FLARE: switches with cores, on which handlers aggregate packets (doc/aggregation.rst). Protocols
/// flare-single, flare-multiple and flare-tree. Native only.
class FlareDriver final : public AggregationDriver
{
  public:
    static TypeId GetTypeId();

    /// How handlers add in a protocol.
    static FlareSum GetSum(const std::string& protocol);

    void Check(const AggregationGroup& group) const override;
    std::unique_ptr<AggregationSession> MakeSession(const AggregationGroup& group,
                                                    uint32_t id) override;
    std::unique_ptr<AggregationNode> MakeNode(NodeId node) override;
    void Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now) override;
    uint32_t CountValues(const AggregationPacket& content) const override;
    /// Nothing: the format of its packets is not published, and captures do without them.
    std::vector<uint8_t> MakeFrame(const FabricPacket& packet,
                                   NodeId sender,
                                   NodeId receiver) override;

    /// Numbers of a full packet.
    uint32_t GetValueCount() const;

    /// On the wire, of every packet.
    uint32_t GetHeaderBytes() const
    {
        return m_headerBytes;
    }

    /// Packets that a worker has under way.
    uint32_t GetCredits() const
    {
        return m_credits;
    }

    /// Of a block, of flare-multiple.
    uint32_t GetBuffers() const
    {
        return m_buffers;
    }

    /// Of the values of a gradient, the share that is not 0.
    double GetDensity() const
    {
        return m_density;
    }

    const Time& GetTimeout() const
    {
        return m_timeout;
    }

  protected:
    void DoInstall() override;

  private:
    uint32_t m_cores;
    Time m_handlerTime;
    Time m_copyTime;
    Time m_addTime;
    uint32_t m_buffers;
    uint32_t m_payloadBytes;
    uint32_t m_headerBytes;
    uint32_t m_credits;
    double m_density;
    Time m_timeout;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FLARE_DRIVER_H
