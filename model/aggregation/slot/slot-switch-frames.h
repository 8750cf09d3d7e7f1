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

    /// A worker of a job, or a switch below, and the port that it is at.
    struct Receiver
    {
        uint16_t worker;
        uint16_t port;
    };

    /// The switch above.
    struct Parent
    {
        uint16_t port;
        uint16_t number; //!< by which it knows this one
        FrameAddress address;
        uint32_t ownIp; //!< source of what goes there
    };

    explicit SlotSwitchFrames(const SlotSwitch::Config& config);

    /// \param group of receivers that results of this worker's job go to
    void AddWorker(const SlotSwitch::WorkerKey& key,
                   const SlotSwitch::WorkerEntry& entry,
                   uint16_t group);
    /// Results of a job come from this address.
    void SetSource(uint16_t job, const FrameAddress& address);
    void SetGroup(uint16_t group, std::vector<Receiver> receivers);
    /// Workers without an address get no results.
    void AddAddress(uint16_t job, uint16_t worker, const FrameAddress& address);
    /// Sums of a job go there, and results come from there. Its workers' entries are no roots.
    void SetParent(uint16_t job, const Parent& parent);
    /// Longest prefix first wins. \param length of the prefix in bits, 0 to 32
    void AddRoute(uint32_t prefix, uint8_t length, uint16_t port);

    /// See SlotSwitch::ClearCell.
    void ClearCell(uint32_t cell)
    {
        m_switch.ClearCell(cell);
    }

    /// A job starts again at epoch 0: see SlotSwitch::Reset. Nothing for a job that is not here.
    void ResetJob(uint16_t job);

    /// What leaves, in the order of the groups.
    std::vector<PortFrame> Process(uint16_t port, std::span<const uint8_t> frame);

    const SlotSwitch& GetSwitch() const
    {
        return m_switch;
    }

    uint64_t GetChecksumDrops() const
    {
        return m_checksumDrops;
    }

    /// Results that were not sent since their worker has no address.
    uint64_t GetReceiverDrops() const
    {
        return m_receiverDrops;
    }

    /// Frames that are no slot packets and have no route.
    uint64_t GetRouteDrops() const
    {
        return m_routeDrops;
    }

  private:
    std::vector<PortFrame> Forward(std::span<const uint8_t> frame);
    std::vector<PortFrame> Aggregate(uint16_t port, const SlotFrame& frame);
    std::vector<PortFrame> Accept(const SlotFrame& frame);
    std::vector<PortFrame> Multicast(const SlotHeader& header, uint16_t group, uint32_t base);
    SlotFrame MakeFrame(const SlotHeader& header, uint32_t base) const;
    PortFrame MakeResult(const SlotHeader& header, uint32_t base, const Receiver& to) const;
    PortFrame MakePartial(const SlotHeader& header, uint32_t base) const;

    SlotSwitch m_switch;
    std::map<SlotSwitch::WorkerKey, uint16_t> m_groupOf;
    std::map<uint16_t, FrameAddress> m_sources; //!< [job]
    std::map<uint16_t, Parent> m_parents;       //!< [job]
    std::map<uint16_t, std::vector<Receiver>> m_groups;
    std::map<std::pair<uint16_t, uint16_t>, FrameAddress> m_addresses; //!< [job, worker]
    std::map<std::pair<uint8_t, uint32_t>, uint16_t> m_routes;         //!< [length, prefix]
    uint64_t m_checksumDrops{0};
    uint64_t m_routeDrops{0};
    uint64_t m_receiverDrops{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_SWITCH_FRAMES_H
