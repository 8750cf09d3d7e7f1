// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NVLS_SESSION_H
#define GRADSYNC_NVLS_SESSION_H

#include "ns3/aggregation-session.h"
#include "ns3/nvls-worker.h"

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace ns3::gradsync
{

class NvlsDriver;

/// A group in NVLS: GPUs that have links to one NVSwitch.
class NvlsSession final : public AggregationSession
{
  public:
    NvlsSession(NvlsDriver& driver, const AggregationGroup& group, uint32_t id);

    void Open() override;
    bool IsHit(const AggregationOutage& outage) const override;
    std::optional<AggregationLoad> DescribeLoad() const override;
    bool Rebuild() override;

  private:
    void ChooseSwitch();

    /// A link between a member and the switch, and its ports at both ends.
    struct Link
    {
        LinkId link;
        uint16_t memberPort;
        uint16_t switchPort;
    };

    std::vector<Link> FindLinks(NodeId node) const;
    void AddRole();

    NvlsDriver& m_driver;
    uint32_t m_turn;
    NvlsWorker::Settings m_settings{};
    NodeId m_switch{0};
    std::vector<Link> m_links;          //!< [member]
    std::vector<NvlsWorker*> m_workers; //!< all
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NVLS_SESSION_H
