// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ATP_SWITCH_FRAMES_H
#define GRADSYNC_ATP_SWITCH_FRAMES_H

#include "ns3/atp-frame.h"
#include "ns3/atp-switch.h"
#include "ns3/udp-frame.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * The switch of ATP as a box with ports: frames in, frames out, byte for byte what the P4 program
 * atp.p4 of p4-behavioral/ makes of them. Test vectors drive it; simulations use AtpSwitch itself.
 */
class AtpSwitchFrames
{
  public:
    /// A frame without FCS at a port.
    struct PortFrame
    {
        uint16_t port;
        std::vector<uint8_t> bytes;
    };

    /// \param aggregators of each level
    explicit AtpSwitchFrames(uint32_t aggregators);

    /// \param length of the prefix in bits, 0 to 32
    void AddRoute(uint32_t prefix, uint8_t length, uint16_t port);
    /// Answers to a job from this level go to these ports, once each.
    void SetReceivers(uint16_t job, uint8_t level, std::vector<uint16_t> ports);
    /// Ports without an address get no answers.
    void AddAddress(uint16_t job, uint16_t port, const FrameAddress& address);

    std::vector<PortFrame> Process(std::span<const uint8_t> frame);

  private:
    std::vector<PortFrame> Aggregate(std::span<const uint8_t> frame);
    std::vector<PortFrame> SendUp(std::span<const uint8_t> frame,
                                  AtpWireHeader header,
                                  std::span<const int32_t> values) const;
    std::vector<PortFrame> Answer(std::span<const uint8_t> frame, AtpWireHeader header) const;
    std::vector<PortFrame> Forward(std::span<const uint8_t> frame) const;
    bool Contribute(AtpWireHeader& header, std::vector<int32_t>& values);

    uint32_t m_aggregators;
    std::array<AtpSwitch, 2> m_levels;
    std::map<std::pair<uint8_t, uint32_t>, uint16_t> m_routes;              //!< [length, prefix]
    std::map<std::pair<uint16_t, uint8_t>, std::vector<uint16_t>> m_groups; //!< [job, level]
    std::map<std::pair<uint16_t, uint16_t>, FrameAddress> m_addresses;      //!< [job, port]
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ATP_SWITCH_FRAMES_H
