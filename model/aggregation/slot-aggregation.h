// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_AGGREGATION_H
#define GRADSYNC_SLOT_AGGREGATION_H

#include "ns3/aggregation-switch.h"
#include "ns3/aggregation-tree.h"
#include "ns3/network-aggregation.h"
#include "ns3/slot-contents.h"
#include "ns3/slot-tensor.h"
#include "ns3/slot-worker.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace ns3::gradsync
{

/// What packets of an aggregation carry.
enum AggregationValues
{
    VALUES_SIZES, //!< nothing: only sizes matter
    VALUES_REAL   //!< integers, which switches add up and workers check
};

/**
 * Aggregation by the slot protocol of SwitchML and PASSING in the switches of the fabric, over one
 * or more levels (doc/aggregation.rst).
 */
class SlotAggregation : public NetworkAggregation, private PacketSink
{
  public:
    static TypeId GetTypeId();
    SlotAggregation();
    ~SlotAggregation() override;

    void Install(const Ptr<FabricNetwork>& fabric,
                 std::shared_ptr<const Topology> topology) override;
    uint32_t OpenAggregation(const std::vector<uint32_t>& endpoints) override;
    void CloseAggregation(uint32_t group) override;
    void Aggregate(const AggregationMessage& message) override;
    void Abandon(const Transport::MessageFilter& isMeant) override;
    AggregationStatistics GetStatistics() const override;
    std::vector<uint8_t> MakeFrame(const FabricPacket& packet,
                                   NodeId sender,
                                   NodeId receiver) override;
    void AddStatistics(TransportStatistics& total) const override;

    /// The part of a node, or nullptr when it has none.
    const AggregationSwitch* GetSwitch(NodeId node) const;

  protected:
    void DoDispose() override;

  private:
    /// A group.
    struct Session
    {
        SlotJob job;
        AggregationTree tree;
        std::unique_ptr<SlotTensor> tensor;
        std::vector<std::unique_ptr<SlotWorker>> workers;
    };

    void Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now) override;
    uint16_t TakeNumber();
    void AddWorkers(Session& session, const std::vector<uint32_t>& endpoints);
    void AddRoles(const Session& session, const std::vector<uint32_t>& endpoints);
    AggregationSwitch& GetProgram(NodeId node);
    void RemoveRoles(const Session& session);
    void Retire(const SlotWorker& worker);

    uint32_t m_slots;
    uint32_t m_poolSlots;
    uint32_t m_valueCount;
    bool m_saturate;
    Time m_timeout;
    uint32_t m_retryLimit;
    AggregationValues m_values;

    Ptr<FabricNetwork> m_fabric;
    std::shared_ptr<const Topology> m_topology;
    SlotContents m_contents;
    std::map<uint16_t, std::unique_ptr<Session>> m_sessions; //!< by number of the job
    std::map<NodeId, std::unique_ptr<AggregationSwitch>> m_switches;
    std::map<uint32_t, PacketSink*> m_sinks; //!< [endpoint] -> who takes what is not for us
    uint16_t m_nextNumber{0};
    uint32_t m_sessionCount{0};         //!< ever
    AggregationStatistics m_statistics; //!< what workers tell
    uint64_t m_resultBytes{0};          //!< of workers that are gone
    uint64_t m_retransmittedBytes{0};   //!< likewise
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_AGGREGATION_H
