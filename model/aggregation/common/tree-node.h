// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TREE_NODE_H
#define GRADSYNC_TREE_NODE_H

#include "ns3/aggregation-node.h"
#include "ns3/aggregation-role.h"
#include "ns3/fabric-switch.h"
#include "ns3/packet-pool.h"
#include "ns3/tree-header.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/**
 * A switch of a tree, or a node that hands on between workers and such a switch: adds what its
 * children send, sends one packet up, and what comes down to all children. The root's sum goes down
 * at once. How and how fast it adds is the protocol's.
 *
 * A worker (TreeWorker) sends packet s only when it has the results of all up to s - W, W being its
 * credits. So all have contributed to s - W when any sends s, and all have the result of s - 2 W:
 * of 2 W entries none is taken that anybody may still ask for.
 */
class TreeNode : public AggregationNode
{
  public:
    /// All must outlive this.
    TreeNode(FabricSwitch& forwarder, PacketPool& pool, AggregationContents& contents);

    /// Of each packet of a job.
    static uint32_t CountEntries(uint32_t credits)
    {
        return 2 * credits;
    }

    /// \param role whose slots are the entries
    void AddJob(uint16_t number, const AggregationRole& role);
    void RemoveJob(uint16_t number) override;
    void LoseJobs() override;

    bool Process(FabricPacket* packet, uint16_t port, TimeStepCount now) override;

    bool Concerns(const AggregationPacket& packet) const override;
    /// Its memory belongs to no pipeline.
    std::optional<uint32_t> FindPlace(const AggregationPacket& packet) const override;
    void AddStatistics(AggregationStatistics& total) const override;

  protected:
    /// A packet's sums.
    struct Entry
    {
        uint64_t sequence{UINT64_MAX}; //!< UINT64_MAX: none yet
        std::vector<bool> taken{};     //!< [child] whose contribution is here
        uint32_t missing{0};           //!< children whose contributions are not in the sum
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

    /// A packet goes on with the sum of an entry, which may have another size than what came.
    virtual void SetSize(FabricPacket& packet, const Entry& entry) const;
    /// A packet of a child or of the switch above, at a switch that aggregates; takes it.
    virtual void OnPacket(FabricPacket* packet, Job& job, uint16_t port, TimeStepCount now) = 0;

    /// The one whose packet it is; nullptr: it is over.
    Job* FindJob(const FabricPacket& packet);

    static Entry& FindEntry(Job& job, uint64_t sequence)
    {
        return job.entries[sequence % job.entries.size()];
    }

    /// \returns which child's contribution is to be added; none: the packet was stale or came
    /// again, and is dealt with
    std::optional<uint32_t> Admit(FabricPacket* packet, Job& job, uint16_t port, TimeStepCount now);
    /// The sum of all children of the packet is in its entry: the packet goes on with it.
    void Emit(FabricPacket* packet, Job& job, uint16_t port, TimeStepCount now);
    /// What the switch above has answered goes to all children.
    void OnResult(FabricPacket* packet, Job& job, uint16_t port, TimeStepCount now);

    /// A packet that leads to nothing.
    void Drop(FabricPacket* packet);

    /// So many packets have driven a sum out of int32.
    void CountOverflows(uint64_t count)
    {
        m_overflows += count;
    }

    const AggregationPacket& GetContent(const FabricPacket& packet) const
    {
        return m_contents.Get(packet);
    }

  private:
    bool HandOn(FabricPacket* packet,
                const AggregationRole& role,
                uint16_t port,
                TimeStepCount now);
    void OnRepetition(FabricPacket* packet,
                      Job& job,
                      uint32_t child,
                      uint16_t port,
                      TimeStepCount now);
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

    FabricSwitch& m_forwarder;
    PacketPool& m_pool;
    AggregationContents& m_contents;
    std::map<uint16_t, Job> m_jobs;
    uint64_t m_repeatedResults{0}; //!< sums that went to one that asked again
    uint64_t m_stale{0};           //!< packets that are over
    uint64_t m_overflows{0};       //!< packets that drove a sum out of int32
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TREE_NODE_H
