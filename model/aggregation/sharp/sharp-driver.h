// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SHARP_DRIVER_H
#define GRADSYNC_SHARP_DRIVER_H

#include "ns3/aggregation-driver.h"
#include "ns3/nstime.h"
#include "ns3/sharp-manager.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// SHARP: trees of aggregating InfiniBand switches, which a manager gives to jobs
/// (doc/aggregation.rst). Protocols sharp-sat (streaming) and sharp-llt (low latency). Native only.
class SharpDriver final : public AggregationDriver
{
  public:
    static TypeId GetTypeId();

    /// The kind of tree of a protocol.
    static SharpTree GetTree(const std::string& protocol);

    void Check(const AggregationGroup& group) const override;
    std::unique_ptr<AggregationSession> MakeSession(const AggregationGroup& group,
                                                    uint32_t id) override;
    std::unique_ptr<AggregationNode> MakeNode(NodeId node) override;
    void Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now) override;
    uint32_t CountValues(const AggregationPacket& content) const override;
    /// Nothing: packets of InfiniBand are no Ethernet frames, and captures do without them.
    std::vector<uint8_t> MakeFrame(const FabricPacket& packet,
                                   NodeId sender,
                                   NodeId receiver) override;

    SharpManager& GetManager()
    {
        return m_manager;
    }

    /// Integers of a full packet.
    uint32_t GetValueCount() const;

    /// On the wire, of every packet.
    uint32_t GetHeaderBytes() const
    {
        return m_headerBytes;
    }

    /// Packets that a worker has under way.
    uint32_t GetCredits(SharpTree tree) const;
    /// In percent of each switch.
    uint32_t GetQuota(SharpTree tree) const;

    const Time& GetTimeout() const
    {
        return m_timeout;
    }

  protected:
    void DoInstall() override;

  private:
    SharpGeneration m_generation;
    uint32_t m_payloadBytes;
    uint32_t m_headerBytes;
    uint32_t m_groupTransactions;
    uint32_t m_streamPackets;
    uint32_t m_lltQuota;
    uint32_t m_satQuota;
    Time m_timeout;
    SharpManager m_manager;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SHARP_DRIVER_H
