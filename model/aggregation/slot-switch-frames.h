// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_SWITCH_FRAMES_H
#define GRADSYNC_SLOT_SWITCH_FRAMES_H

#include "ns3/slot-frame.h"
#include "ns3/slot-switch.h"

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * The slot switch as a box with ports: frames in, frames out, byte for byte what the P4 program of
 * p4-behavioral/ makes of them. Test vectors drive it; simulations use SlotSwitch itself.
 */
class SlotSwitchFrames
{
  public:
    /// A frame without FCS at a port.
    struct PortFrame
    {
        uint16_t port;
        std::vector<uint8_t> bytes;

        bool operator==(const PortFrame&) const = default;
    };

    /// Who is at a port: the key of the egress table is job and port.
    struct Receiver
    {
        uint16_t worker;
        FrameAddress address;
    };

    explicit SlotSwitchFrames(const SlotSwitch::Config& config);

    /// \param group of ports that results of this worker's job go to
    void AddWorker(const SlotSwitch::WorkerKey& key,
                   const SlotSwitch::WorkerEntry& entry,
                   uint16_t group);
    /// Results of a job come from this address.
    void SetSource(uint16_t job, const FrameAddress& address);
    void SetGroup(uint16_t group, std::vector<uint16_t> ports);
    /// Ports without a receiver get no results.
    void AddReceiver(uint16_t job, uint16_t port, const Receiver& receiver);
    /// Longest prefix first wins. \param length of the prefix in bits, 0 to 32
    void AddRoute(uint32_t prefix, uint8_t length, uint16_t port);

    /// What leaves, in ascending order of ports.
    std::vector<PortFrame> Process(uint16_t port, std::span<const uint8_t> frame);

    const SlotSwitch& GetSwitch() const
    {
        return m_switch;
    }

    uint64_t GetChecksumDrops() const
    {
        return m_checksumDrops;
    }

    /// Frames that are no slot packets and have no route.
    uint64_t GetRouteDrops() const
    {
        return m_routeDrops;
    }

  private:
    std::vector<PortFrame> Forward(std::span<const uint8_t> frame);
    std::vector<PortFrame> Aggregate(uint16_t port, const SlotFrame& frame);
    PortFrame MakeResult(const SlotHeader& header, uint32_t base, uint16_t port) const;

    SlotSwitch m_switch;
    std::map<SlotSwitch::WorkerKey, uint16_t> m_groupOf;
    std::map<uint16_t, FrameAddress> m_sources;                    //!< [job]
    std::map<uint16_t, std::vector<uint16_t>> m_groups;            //!< ascending ports
    std::map<std::pair<uint16_t, uint16_t>, Receiver> m_receivers; //!< [job, port]
    std::map<std::pair<uint8_t, uint32_t>, uint16_t> m_routes;     //!< [length, prefix]
    uint64_t m_checksumDrops{0};
    uint64_t m_routeDrops{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_SWITCH_FRAMES_H
