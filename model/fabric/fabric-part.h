// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FABRIC_PART_H
#define GRADSYNC_FABRIC_PART_H

#include "ns3/fabric-network.h"
#include "ns3/fabric-port.h"
#include "ns3/state-words.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// Ports of a network, and the switches between them, that nothing else goes through.
class FabricPart
{
  public:
    /// \param fabric outlives the part \param ports by their index, ascending
    FabricPart(FabricNetwork& fabric, std::vector<uint32_t> ports);

    std::span<const uint32_t> GetPorts() const
    {
        return m_ports;
    }

    /// The place of a port in the part.
    uint32_t FindPlace(uint32_t port) const;

    /**
     * What decides how it carries packets from rest: its ports in their order among simultaneous
     * events, what they connect, their links, and the memory of its switches.
     * \param endpoints of the network, in an order of their own
     */
    void AddShape(std::span<const uint32_t> endpoints, StateWords& words) const;

    /// Nothing is under way; nothing was marked, dropped or paused so far, nor was there a draw.
    /// \param isMarked its packets may be
    bool IsAtRest(TimeStepCount now, bool isMarked);

    /// Since when it is at rest. Only when it is.
    TimeStepCount GetRestTime() const;

    void BeginMeasuring(TimeStepCount now);
    /// [place] what was counted since then.
    std::vector<PortCounters> Measure(TimeStepCount now) const;

    /// \param counters [place]
    void Add(std::span<const PortCounters> counters);

    /// Payload that came to endpoints.
    uint64_t GetArrivedBytes(std::span<const PortCounters> counters) const;

  private:
    FabricNetwork& m_fabric;
    std::vector<uint32_t> m_ports;
    std::vector<PortCounters> m_before; //!< [place] when it began to measure
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FABRIC_PART_H
