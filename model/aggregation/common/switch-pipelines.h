// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SWITCH_PIPELINES_H
#define GRADSYNC_SWITCH_PIPELINES_H

#include "ns3/fabric-packet.h"
#include "ns3/nstime.h"
#include "ns3/topology.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/**
 * What holds packets up on their way to the programs of a real switch: pipelines that each take in
 * so many packets a second, recirculation of packets with more integers than a pass can add, and
 * the time that a pass takes.
 *
 * Ports are dealt out to pipelines in turn, and so are the places of the registers. A packet passes
 * the pipeline of its port; when its place is in another one, it passes that too, and adds there. A
 * packet of k passes through a free pipeline comes out k delays and k - 1 gaps after it came.
 */
class SwitchPipelines
{
  public:
    struct Limits
    {
        uint32_t pipelines;     //!< at least one
        Time gap;               //!< between two passes of one pipeline
        uint32_t valuesPerPass; //!< 0: all
        Time delay;             //!< of a pass
    };

    /// Takes the packets that have come through, with the port by which they came in.
    using Handler = std::function<void(FabricPacket* packet, uint16_t port, TimeStepCount now)>;

    /// \param node of the switch
    SwitchPipelines(const Limits& limits, NodeId node, Handler handler);

    /**
     * \param values integers of the packet
     * \param place in the registers; none: it needs no other pipeline than that of its port
     */
    void Enter(FabricPacket* packet,
               uint16_t port,
               uint32_t values,
               const std::optional<uint32_t>& place);

  private:
    Time Pass(uint32_t pipeline, uint32_t passes);
    void Add(FabricPacket* packet, uint16_t port, uint32_t pipeline, uint32_t passes);

    Limits m_limits;
    uint32_t m_order; //!< of its events among simultaneous ones
    Handler m_handler;
    std::vector<Time> m_free; //!< [pipeline] when it may take in the next packet
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SWITCH_PIPELINES_H
