// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_DRIVER_H
#define GRADSYNC_SLOT_DRIVER_H

#include "ns3/aggregation-driver.h"
#include "ns3/nstime.h"
#include "ns3/slot-format.h"
#include "ns3/slot-sharing.h"
#include "ns3/switchml-backoff.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::gradsync
{

struct P4Program;

/// The slot protocol of SwitchML and PASSING, which differ in how floats become integers
/// (doc/aggregation.rst). The switches add natively or by slot-aggregation.p4. Packets have our own
/// header or are those of SwitchML's published client and switch.
class SlotDriver final : public AggregationDriver
{
  public:
    static TypeId GetTypeId();

    static std::vector<CompiledLimit> GetCompiledLimits();
    static std::vector<CompiledChoice> GetCompiledChoices();

    void Check(const AggregationGroup& group) const override;
    std::string FindShared() const override;
    std::unique_ptr<AggregationSession> MakeSession(const AggregationGroup& group,
                                                    uint32_t id) override;
    std::unique_ptr<AggregationNode> MakeNode(NodeId node) override;
    void Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now) override;
    uint32_t CountValues(const AggregationPacket& content) const override;
    std::vector<uint8_t> MakeFrame(const FabricPacket& packet,
                                   NodeId sender,
                                   NodeId receiver) override;
    bool ReadsFrames() const override;
    bool ReadFrame(std::span<const uint8_t> frame, AggregationPacket& content) const override;

    /// At most, of an aggregation at every switch.
    uint32_t GetSlots() const
    {
        return m_slots;
    }

    const SlotWire& GetWire() const
    {
        return m_wire;
    }

    SwitchMlBackoff::Config GetBackoff() const
    {
        return {m_timeout, m_timeoutThreshold, m_timeoutIncrement};
    }

    /// Of floats before they are rounded; 0: by exponents.
    static float GetFactor(const std::string& protocol);

    SlotSharing& GetSharing()
    {
        return m_sharing;
    }

  protected:
    void DoInstall() override;
    void DoDispose() override;

  private:
    void CheckCompiled() const;
    void CheckFormat() const;
    void CheckMessages() const;
    std::shared_ptr<const P4Program> LoadProgram();

    uint32_t m_slots;
    uint32_t m_poolSlots;
    SlotSharingMode m_sharingMode;
    uint32_t m_valueCount;
    Time m_timeout;
    SlotFormat m_format;
    uint32_t m_messagePackets;
    uint32_t m_timeoutThreshold;
    uint32_t m_timeoutIncrement;
    SlotWire m_wire; //!< of the Attributes
    SlotSharing m_sharing;
    std::shared_ptr<const P4Program> m_program; //!< of the engine p4, once it is in use
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_DRIVER_H
