// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ROCE_PART_H
#define GRADSYNC_ROCE_PART_H

#include "ns3/fabric-part.h"
#include "ns3/network-part.h"
#include "ns3/roce-nic.h"
#include "ns3/roce-receiver.h"
#include "ns3/roce-sender.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/// A part of a fabric and the NICs that feed it.
class RocePart final : public NetworkPart
{
  public:
    /// What it looks at of the transport, which outlives it.
    struct Site
    {
        FabricNetwork& fabric;
        const RoceSender& sender;
        RoceReceiver& receiver;
        uint64_t& savedEvents;
        bool isMarked; //!< switches may mark its packets
    };

    /**
     * \param endpoints of the network
     * \param paths their ports, by places in `endpoints`: from, to
     * \param nics that its messages leave by
     */
    RocePart(const Site& site,
             std::span<const uint32_t> endpoints,
             const std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>>& paths,
             std::vector<const RoceNic*> nics);

    // NetworkPart
    const std::vector<uint64_t>& GetShape() const override;
    std::span<const uint32_t> GetPorts() const override;
    bool IsAtRest() override;
    int64_t GetRestTime() const override;
    void BeginMeasuring() override;
    PartTraffic Measure() override;
    void Add(const PartTraffic& traffic) override;
    void DeliverLater(const Message& message, int64_t delay) override;

  private:
    Site m_site;
    FabricPart m_part;
    std::vector<const RoceNic*> m_nics;
    std::vector<uint64_t> m_shape;
    /// Endpoints of a message -> the port by which it arrives.
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_lastPorts;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_ROCE_PART_H
