// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SHARP_NODE_H
#define GRADSYNC_SHARP_NODE_H

#include "ns3/aggregation-node.h"
#include "ns3/aggregation-role.h"
#include "ns3/fabric-switch.h"
#include "ns3/packet-pool.h"
#include "ns3/sharp-header.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/**
 * An aggregation node of SHARP, or a node that hands on between workers and such a switch: adds
 * what its children send, sends one packet up, and what comes down to all children. The root's sum
 * goes down at once.
 *
 * A worker sends transaction s only when it has the results of all up to s - W, W being its
 * credits. So all have contributed to s - W when any sends s, and all have the result of s - 2 W:
 * of 2 W entries none is taken that anybody may still ask for.
 */
class SharpNode final : public AggregationNode
{
  public:
    /// All must outlive this. \param computesSums false: only sizes matter, values are empty
    SharpNode(FabricSwitch& forwarder,
              PacketPool& pool,
              AggregationContents& contents,
              bool computesSums);

    /// \param role whose slots are the entries, twice the credits
    void AddJob(uint16_t number, const AggregationRole& role);
    void RemoveJob(uint16_t number) override;
    void LoseJobs() override;

    bool Process(FabricPacket* packet, uint16_t port, TimeStepCount now) override;

    bool Concerns(const AggregationPacket& packet) const override;
    /// Its memory belongs to no pipeline.
    std::optional<uint32_t> FindPlace(const AggregationPacket& packet) const override;
    void AddStatistics(AggregationStatistics& total) const override;

  private:
    /// A transaction.
    struct Entry
    {
        uint64_t sequence{UINT64_MAX}; //!< UINT64_MAX: none yet
        std::vector<bool> added{};     //!< [child]
        uint32_t missing{0};           //!< children that have not contributed
        bool isAnswered{false};        //!< the sum is that of all
        bool hasOverflowed{false};
        std::vector<int32_t> sum{};
    };

    struct Job
    {
        AggregationRole role;
        std::map<uint16_t, uint32_t> childOf; //!< by the number that it calls itself
        std::vector<Entry> entries;           //!< [sequence % size]
    };

    bool HandOn(FabricPacket* packet,
                const AggregationRole& role,
                uint16_t port,
                TimeStepCount now);
    void OnContribution(FabricPacket* packet, Job& job, uint16_t port, TimeStepCount now);
    void OnRepetition(FabricPacket* packet,
                      Job& job,
                      uint32_t child,
                      uint16_t port,
                      TimeStepCount now);
    void OnResult(FabricPacket* packet, Job& job, uint16_t port, TimeStepCount now);
    void Add(const AggregationPacket& content, const Job& job, Entry& entry);
    void SendUp(FabricPacket* packet,
                const Job& job,
                const Entry& entry,
                uint16_t port,
                TimeStepCount now);
    void Multicast(FabricPacket* packet,
                   const Job& job,
                   const Entry& entry,
                   uint16_t port,
                   TimeStepCount now);
    void SendDown(FabricPacket* packet,
                  const Job& job,
                  const Entry& entry,
                  uint32_t child,
                  uint16_t port,
                  TimeStepCount now);
    FabricPacket* Copy(const FabricPacket& packet);

    FabricSwitch& m_forwarder;
    PacketPool& m_pool;
    AggregationContents& m_contents;
    bool m_computesSums;
    std::map<uint16_t, Job> m_jobs;
    uint64_t m_repeatedResults{0}; //!< sums that went to one that asked again
    uint64_t m_stale{0};           //!< packets of transactions that are over
    uint64_t m_overflows{0};       //!< packets that drove a sum out of int32
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SHARP_NODE_H
