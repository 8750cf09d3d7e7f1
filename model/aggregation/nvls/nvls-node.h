// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NVLS_NODE_H
#define GRADSYNC_NVLS_NODE_H

#include "ns3/aggregation-node.h"
#include "ns3/fabric-switch.h"
#include "ns3/nvls-header.h"
#include "ns3/packet-pool.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/**
 * NVLS in an NVSwitch: hands a request of the root to all members, collects what they answer and
 * gives the root one result.
 *
 * Requests may be repeated, as a reduction reads and a multicast writes the same again: a repeated
 * one begins to collect anew. A set of members, never a counter, tells who has answered.
 */
class NvlsNode final : public AggregationNode
{
  public:
    /// A member of a job and the port towards it.
    struct Member
    {
        uint32_t endpoint;
        uint16_t port;
    };

    struct Job
    {
        std::vector<Member> members;
        uint32_t root; //!< index in `members`
        bool sums;     //!< answers carry integers to be added
    };

    /// All must outlive this. \param addsFloats values are the bits of floats
    NvlsNode(FabricSwitch& forwarder,
             PacketPool& pool,
             AggregationContents& contents,
             bool addsFloats);

    void AddJob(uint16_t number, Job job);
    void RemoveJob(uint16_t number) override;
    void LoseJobs() override;

    bool Process(FabricPacket* packet, uint16_t port, TimeStepCount now) override;

    bool Concerns(const AggregationPacket& packet) const override;
    /// Its memory belongs to no pipeline.
    std::optional<uint32_t> FindPlace(const AggregationPacket& packet) const override;
    void AddStatistics(AggregationStatistics& total) const override;

  private:
    /// Of one request.
    struct Entry
    {
        std::vector<bool> answered; //!< [member]
        uint32_t missing;           //!< members that have not
        std::vector<int32_t> sum;
        bool hasOverflowed{false};
    };

    struct JobState
    {
        Job job;
        std::map<uint64_t, Entry> entries; //!< by sequence
    };

    void OnRequest(FabricPacket* packet, JobState& state, uint16_t port, TimeStepCount now);
    void OnAnswer(FabricPacket* packet, JobState& state, uint16_t port, TimeStepCount now);
    void Add(const AggregationPacket& content, Entry& entry);
    void SendTo(FabricPacket* packet,
                const JobState& state,
                uint32_t member,
                uint16_t ingress,
                TimeStepCount now);
    FabricPacket* Copy(const FabricPacket& packet);

    FabricSwitch& m_forwarder;
    PacketPool& m_pool;
    AggregationContents& m_contents;
    bool m_addsFloats;
    std::map<uint16_t, JobState> m_jobs;
    uint64_t m_repeated{0};  //!< requests that came again while they were open
    uint64_t m_stale{0};     //!< answers that nobody waits for
    uint64_t m_overflows{0}; //!< packets that drove a sum out of int32
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NVLS_NODE_H
