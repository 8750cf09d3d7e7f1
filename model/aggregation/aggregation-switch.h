// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_SWITCH_H
#define GRADSYNC_AGGREGATION_SWITCH_H

#include "ns3/fabric-switch.h"
#include "ns3/packet-pool.h"
#include "ns3/slot-contents.h"
#include "ns3/slot-switch.h"
#include "ns3/switch-program.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * The slot protocol at one node of the fabric: a switch that aggregates, or one that hands on
 * between workers and such a switch.
 */
class AggregationSwitch final : public SwitchProgram
{
  public:
    /// In place of an endpoint: a switch below.
    static constexpr uint32_t NO_ENDPOINT = UINT32_MAX;

    /// Who sends contributions and gets results.
    struct Child
    {
        uint16_t worker; //!< number by which it calls itself
        uint16_t port;
        uint32_t endpoint; //!< or NO_ENDPOINT
    };

    /// The part of this node in a job.
    struct Role
    {
        bool aggregates;
        uint16_t worker;              //!< number by which it calls itself at the switch above
        std::optional<uint16_t> up;   //!< none at the root
        std::optional<uint16_t> down; //!< of one that hands on to a switch below
        std::vector<Child> children;  //!< of one that aggregates
        uint32_t slots;               //!< of one that aggregates: how many it gives the job
    };

    /// \param name of the node; the others must outlive this
    AggregationSwitch(std::string name,
                      FabricSwitch& forwarder,
                      PacketPool& pool,
                      SlotContents& contents,
                      const SlotSwitch::Config& config);

    /// \throws std::invalid_argument with a text for the user when the switch has no room for it
    void AddJob(uint16_t job, const Role& role);
    void RemoveJob(uint16_t job);

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
    };

    uint32_t FindRoom(uint32_t slots) const;
    void AddChildren(uint16_t job, const Job& entry);
    void OnContribution(FabricPacket* packet, uint16_t port, const Job& job, TimeStepCount now);
    void OnResult(FabricPacket* packet, uint16_t port, const Job& job, TimeStepCount now);
    void Multicast(FabricPacket* packet, uint16_t port, const Job& job, TimeStepCount now);
    void Fill(SlotPacket& packet, SlotMessage type, uint16_t worker, uint32_t base) const;

    std::string m_name;
    FabricSwitch& m_forwarder;
    PacketPool& m_pool;
    SlotContents& m_contents;
    SlotSwitch m_slots;
    std::map<uint16_t, Job> m_jobs;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_SWITCH_H
