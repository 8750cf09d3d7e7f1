// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SWITCH_BUFFER_H
#define GRADSYNC_SWITCH_BUFFER_H

#include "ns3/fabric-packet.h"
#include "ns3/fabric-port.h"
#include "ns3/packet-pool.h"
#include "ns3/state-words.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// What a switch buffer is told about each of its ports.
struct IngressConfig
{
    bool lossless{true};       //!< pauses its neighbour instead of dropping
    uint64_t headroomBytes{0}; //!< what may still arrive after the decision to pause
};

/**
 * The packet memory that all ports of one switch share, with dynamic thresholds.
 *
 * Lossless ingress ports send PFC XOFF when the bytes that entered by them and still wait exceed
 * alpha * (shared - used), and XON when they have fallen two frames below it or to nothing (IEEE
 * 802.1Qbb; thresholds as Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory
 * packet switches", IEEE/ACM ToN 1998, which also gives the drop threshold of lossy egress queues).
 * Each lossless ingress reserves headroom, so that nothing is dropped while the XOFF takes effect.
 *
 * Departures are lazy (LazySender), so `used` may be too high between looks. Every decision to
 * pause or drop is therefore made twice: on the counters as they are, and, if it would go against
 * the packet, again after all ports were brought up to now.
 */
class SwitchBuffer
{
  public:
    struct Config
    {
        uint64_t totalBytes;
        double pauseAlpha;
        double dropAlpha;
        uint64_t resumeOffsetBytes; //!< hysteresis between XOFF and XON
    };

    /**
     * \param ports the ports of the switch, in the order of their numbers; must outlive the buffer
     * \param ingress one entry a port
     * \throws std::invalid_argument when the headrooms take more than the buffer has
     */
    SwitchBuffer(const Config& config,
                 std::span<FabricPort* const> ports,
                 const std::vector<IngressConfig>& ingress,
                 PacketPool& pool);

    /// Takes room for a packet that must wait at `egress`; false: no room, drop it.
    bool Admit(uint16_t ingressPort,
               const FabricPort& egress,
               uint32_t wireBytes,
               TimeStepCount now);

    /// Gives room back: a waiting packet has started.
    void Release(uint16_t ingressPort, uint32_t wireBytes, TimeStepCount now)
    {
        m_usedBytes -= wireBytes;
        auto& ingress = m_ingress[ingressPort];
        ingress.bytes -= wireBytes;
        if (ingress.pausing)
        {
            ResumeIfLow(ingressPort, now);
        }
    }

    /// Without the headrooms.
    uint64_t GetSharedBytes() const
    {
        return m_sharedBytes;
    }

    /// What decides how it goes on.
    void AddState(StateWords& words) const;

    /// Forgets, without a word to the neighbour, that it is paused: the link to it is dead.
    void ResetIngress(uint16_t ingressPort, TimeStepCount now);

  private:
    struct Ingress
    {
        uint64_t bytes{0};
        bool lossless{true};
        bool pausing{false}; //!< XOFF sent, XON not yet
    };

    double GetThreshold(double alpha) const;
    void SyncAll(TimeStepCount now);
    void Pause(uint16_t ingressPort, TimeStepCount now);
    void ResumeIfLow(uint16_t ingressPort, TimeStepCount now);
    void EndPause(uint16_t ingressPort, TimeStepCount now);
    void SendPfc(uint16_t ingressPort, PacketKind kind, TimeStepCount now);

    Config m_config;
    std::span<FabricPort* const> m_ports;
    std::vector<Ingress> m_ingress;
    PacketPool& m_pool;
    uint64_t m_sharedBytes{0}; //!< total without the headrooms
    uint64_t m_usedBytes{0};
    uint32_t m_pausingCount{0};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SWITCH_BUFFER_H
