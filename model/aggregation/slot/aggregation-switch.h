// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_SWITCH_H
#define GRADSYNC_AGGREGATION_SWITCH_H

#include "ns3/aggregation-node.h"
#include "ns3/aggregation-role.h"
#include "ns3/fabric-switch.h"
#include "ns3/p4-slot-switch.h"
#include "ns3/packet-pool.h"
#include "ns3/slot-format.h"
#include "ns3/slot-header.h"
#include "ns3/slot-queue-pairs.h"
#include "ns3/slot-switch.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace ns3::gradsync
{

/**
 * The slot protocol at one node of the fabric: a switch that aggregates, or one that hands on
 * between workers and such a switch.
 */
class AggregationSwitch final : public AggregationNode
{
  public:
    static constexpr uint32_t NO_ENDPOINT = AggregationRole::NO_ENDPOINT;

    using Child = AggregationRole::Child;
    /// The part of this node in a job.
    using Role = AggregationRole;

    /// \param name of the node; the others must outlive this
    AggregationSwitch(std::string name,
                      FabricSwitch& forwarder,
                      PacketPool& pool,
                      AggregationContents& contents,
                      const SlotWire& wire,
                      const SlotSwitch::Config& config);

    /// From now on a P4 program aggregates; this class allots slots and hands on. Before any job.
    void SetEngine(std::unique_ptr<P4SlotSwitch> engine)
    {
        m_engine = std::move(engine);
    }

    const P4SlotSwitch* GetEngine() const
    {
        return m_engine.get();
    }

    /// \throws std::invalid_argument with a text for the user when the switch has no room for it
    void AddJob(uint16_t job, const Role& role);
    void RemoveJob(uint16_t job) override;

    /// Whether so many slots in a row are free.
    bool HasRoom(uint32_t slots) const
    {
        return FindRoom(slots).has_value();
    }

    void LoseJobs() override;
    bool Concerns(const AggregationPacket& packet) const override;
    std::optional<uint32_t> FindPlace(const AggregationPacket& packet) const override;
    void AddStatistics(AggregationStatistics& total) const override;

    bool Process(FabricPacket* packet, uint16_t port, TimeStepCount now) override;

    const SlotSwitch& GetSlots() const
    {
        return m_slots;
    }

  private:
    struct Job
    {
        Role role;
        uint32_t base; //!< of its slots
        SlotQueuePairs queuePairs{};
    };

    std::optional<uint32_t> FindRoom(uint32_t slots) const;
    void AddChildren(uint16_t job, const Job& entry);
    void OnContribution(FabricPacket* packet, uint16_t port, Job& job, TimeStepCount now);
    void OnResult(FabricPacket* packet, uint16_t port, Job& job, TimeStepCount now);
    void Multicast(FabricPacket* packet, uint16_t port, Job& job, TimeStepCount now);
    bool FindSlot(SlotHeader& header, Job& job) const;
    void Fill(AggregationPacket& packet, SlotMessage type, uint16_t worker, uint32_t base) const;
    void FillResult(AggregationPacket& packet, uint16_t worker, Job& job) const;

    std::string m_name;
    std::unique_ptr<P4SlotSwitch> m_engine; //!< null: m_slots aggregates
    FabricSwitch& m_forwarder;
    PacketPool& m_pool;
    AggregationContents& m_contents;
    SlotWire m_wire;
    SlotSwitch m_slots;
    std::map<uint16_t, Job> m_jobs;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_SWITCH_H
