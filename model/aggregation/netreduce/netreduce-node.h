// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NETREDUCE_NODE_H
#define GRADSYNC_NETREDUCE_NODE_H

#include "ns3/aggregation-node.h"
#include "ns3/aggregation-role.h"
#include "ns3/fabric-switch.h"
#include "ns3/packet-pool.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/**
 * The box of NetReduce beside a switch (Liu et al., ASPLOS 2023), or a node that hands on between
 * workers and such a switch.
 *
 * The connections of a job form a ring, in the order of the children: what child i sends is for
 * child i + 1, that of the last one for somebody above, or at the root for the first. The box keeps
 * the packets of one number until it has those of all children, and lets them go on with the sum in
 * place of their payload. Below another box only the last child's packet goes up, with the partial
 * sum; the others wait for the packet that comes down for the first child, with the sum of all.
 *
 * Of each child it takes packets in order, as the receiver does at the end of the connection: what
 * comes too early goes on as it is, so that the receiver asks the sender to go back. Where it keeps
 * nothing any more of a packet, the receiver has it, and wants it for its acknowledgement only
 * (doc/aggregation.rst).
 */
class NetReduceNode final : public AggregationNode
{
  public:
    /// All must outlive this. \param computesSums false: only sizes matter, values are empty
    NetReduceNode(FabricSwitch& forwarder,
                  PacketPool& pool,
                  AggregationContents& contents,
                  bool computesSums);

    /**
     * \param role whose children are in the order of the ring, and whose slots are the packets that
     * the box keeps
     * \param first number of the first packet
     */
    void AddJob(uint16_t job, const AggregationRole& role, uint64_t first);
    void RemoveJob(uint16_t job) override;
    void LoseJobs() override;

    bool Process(FabricPacket* packet, uint16_t port, TimeStepCount now) override;

    bool Concerns(const AggregationPacket& packet) const override;
    /// Its memory belongs to no pipeline, and order counts.
    std::optional<uint32_t> FindPlace(const AggregationPacket& packet) const override;
    void AddStatistics(AggregationStatistics& total) const override;

  private:
    /// Of one number.
    struct Entry
    {
        std::vector<int32_t> sum;
        std::vector<FabricPacket*> held; //!< [child]; null: not here, or gone on
        bool hasOverflowed{false};
    };

    struct Job
    {
        AggregationRole role;
        std::map<uint16_t, uint32_t> childOf; //!< by the number that it calls itself
        std::vector<Entry> entries;           //!< [sequence % size]
        std::vector<uint64_t> expected;       //!< [child] next packet
        uint64_t begun;                       //!< of any child, one past the last
        uint64_t completed;                   //!< of all children
        uint64_t answered;                    //!< of which the sum of all is known

        Entry& GetEntry(uint64_t sequence)
        {
            return entries[sequence % entries.size()];
        }

        /// What the child sends leaves the subtree.
        bool Leaves(uint32_t child) const
        {
            return role.up && child + 1 == role.children.size();
        }
    };

    void Forget(const Job& job);
    bool HandOn(FabricPacket* packet,
                uint16_t port,
                const AggregationRole& role,
                TimeStepCount now);
    void OnContribution(FabricPacket* packet, Job& job, uint32_t child, TimeStepCount now);
    void OnOtherThanNext(FabricPacket* packet, Job& job, uint32_t child, TimeStepCount now);
    void OnResult(FabricPacket* packet, Job& job, TimeStepCount now);
    void Add(FabricPacket* packet, Job& job);
    void Release(Job& job, uint64_t sequence, TimeStepCount now);
    void Fill(FabricPacket& packet, Job& job);
    void SendOnward(FabricPacket* packet, const Job& job, uint32_t child, TimeStepCount now);

    FabricSwitch& m_forwarder;
    PacketPool& m_pool;
    AggregationContents& m_contents;
    bool m_computesSums;
    std::map<uint16_t, Job> m_jobs;
    uint64_t m_repeatedResults{0}; //!< sums that went on once more
    uint64_t m_overflows{0};       //!< packets that drove a sum out of int32
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NETREDUCE_NODE_H
