// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SWITCHML_SWITCH_FRAMES_H
#define GRADSYNC_SWITCHML_SWITCH_FRAMES_H

#include "ns3/slot-format.h"
#include "ns3/slot-queue-pairs.h"
#include "ns3/slot-switch-frames.h"
#include "ns3/slot-switch.h"
#include "ns3/switchml-roce-frame.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/**
 * SwitchML's switch as a box with ports, for one job as its published program has it: frames of the
 * published client in, over UDP or RoCEv2, and answers in the same format out. What is none of
 * these frames, or of a worker or slot that is not known, is dropped.
 */
class SwitchMlSwitchFrames
{
  public:
    using PortFrame = SlotSwitchFrames::PortFrame;

    /// Of the rank that is its place in the list.
    struct Worker
    {
        uint16_t port;
        FrameAddress address;
    };

    /// \param poolSize slots \param address of the switch
    SwitchMlSwitchFrames(const SlotWire& wire,
                         uint32_t poolSize,
                         const FrameAddress& address,
                         std::vector<Worker> workers);

    /// What leaves, in the order of the workers.
    std::vector<PortFrame> Process(uint16_t port, std::span<const uint8_t> frame);

    const SlotSwitch& GetSwitch() const
    {
        return m_switch;
    }

    const SlotQueuePairs& GetQueuePairs() const
    {
        return m_queuePairs;
    }

  private:
    /// A contribution, with what its answer takes from it.
    struct Contribution
    {
        SlotFrame frame;
        std::optional<SwitchMlRoceFrame> write; //!< as it came in RoCEv2
    };

    std::optional<Contribution> Read(std::span<const uint8_t> frame) const;
    std::optional<Contribution> ReadWrite(std::span<const uint8_t> frame) const;
    bool FindSlot(Contribution& contribution);
    std::vector<uint8_t> MakeResult(const Contribution& contribution, uint16_t worker);

    SlotWire m_wire;
    FrameAddress m_address;
    std::vector<Worker> m_workers;
    SlotSwitch m_switch;
    SlotQueuePairs m_queuePairs;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SWITCHML_SWITCH_FRAMES_H
