// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NVLS_DRIVER_H
#define GRADSYNC_NVLS_DRIVER_H

#include "ns3/aggregation-driver.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3::gradsync
{

/// NVLink SHARP: reduction and multicast in the NVSwitch between the accelerators of a server
/// (doc/aggregation.rst). Native only.
class NvlsDriver final : public AggregationDriver
{
  public:
    static TypeId GetTypeId();

    bool HasFlow(AggregationFlow flow) const override;
    void Check(const AggregationGroup& group) const override;
    std::unique_ptr<AggregationSession> MakeSession(const AggregationGroup& group,
                                                    uint32_t id) override;
    std::unique_ptr<AggregationNode> MakeNode(NodeId node) override;
    void Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now) override;
    uint32_t CountValues(const AggregationPacket& content) const override;
    /// Nothing: packets of NVLink are no Ethernet frames, and captures do without them.
    std::vector<uint8_t> MakeFrame(const FabricPacket& packet,
                                   NodeId sender,
                                   NodeId receiver) override;

    /// Integers of a full packet.
    uint32_t GetValueCount() const;

    /// On the wire, of every packet.
    uint32_t GetHeaderBytes() const
    {
        return m_headerBytes;
    }

    /// Requests of a root under way.
    uint32_t GetWindow() const
    {
        return m_window;
    }

    const Time& GetTimeout() const
    {
        return m_timeout;
    }

  private:
    uint32_t m_payloadBytes;
    uint32_t m_headerBytes;
    uint32_t m_window;
    Time m_timeout;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NVLS_DRIVER_H
