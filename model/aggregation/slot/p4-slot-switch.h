// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_P4_SLOT_SWITCH_H
#define GRADSYNC_P4_SLOT_SWITCH_H

#include "ns3/aggregation-role.h"
#include "ns3/p4-switch-node.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace ns3::gradsync
{

/**
 * The slot protocol's switch as the P4 program of p4-behavioral/, and its control plane: the
 * commands of simple_switch_CLI that tell the program of a job.
 */
class P4SlotSwitch
{
  public:
    /// Bits of the program's bitmaps.
    static constexpr uint32_t MAX_WORKERS = 32;

    /// \param program slot-aggregation.p4, compiled
    P4SlotSwitch(AggregationHost& host, NodeId node, std::shared_ptr<const P4Program> program);

    /// Gives a job its slots from `base` on, as if they had never been used.
    void AddJob(uint16_t job, const AggregationRole& role, uint32_t base);
    void RemoveJob(uint16_t job);

    void Process(FabricPacket* packet, uint16_t port, TimeStepCount now)
    {
        m_node.Process(packet, port, now);
    }

    /// Packets that a counter of the program has seen, by its EVENT_ constants.
    uint64_t GetEvents(uint32_t event) const;

    static constexpr uint32_t EVENT_STALE = 4;
    static constexpr uint32_t EVENT_RESENT = 7;
    static constexpr uint32_t EVENT_OVERFLOW = 9;

  private:
    struct Job
    {
        std::string entries; //!< commands that fill the tables
        uint16_t group;
    };

    uint16_t FindGroup() const;
    std::string DescribeChildren(uint16_t job,
                                 const AggregationRole& role,
                                 const std::string& place) const;
    std::string DescribeParent(uint16_t job,
                               const AggregationRole& role,
                               const std::string& place) const;
    std::string DescribeGroup(const AggregationRole& role, uint16_t group);
    std::string DescribeReset(uint32_t base, uint32_t slots);
    void Configure(const std::string& commands);

    P4SwitchNode m_node;
    std::map<uint16_t, Job> m_jobs;
    uint32_t m_nextNode{0};  //!< handle of the next multicast node
    uint32_t m_usedSlots{0}; //!< slots from here on were never used
};

} // namespace ns3::gradsync

#endif // GRADSYNC_P4_SLOT_SWITCH_H
