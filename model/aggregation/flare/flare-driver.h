// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FLARE_DRIVER_H
#define GRADSYNC_FLARE_DRIVER_H

#include "ns3/block-sum.h"
#include "ns3/nstime.h"
#include "ns3/tree-driver.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3::gradsync
{

/// FLARE: switches with cores, on which handlers aggregate packets (doc/aggregation.rst). Protocols
/// flare-single, flare-multiple and flare-tree. Native only.
class FlareDriver final : public TreeDriver
{
  public:
    static TypeId GetTypeId();

    FlareDriver();

    /// How handlers add in a protocol.
    static FlareSum GetSum(const std::string& protocol);

    std::unique_ptr<AggregationSession> MakeSession(const AggregationGroup& group,
                                                    uint32_t id) override;
    std::unique_ptr<AggregationNode> MakeNode(NodeId node) override;

    /// Packets that a worker has under way.
    uint32_t GetCredits() const
    {
        return m_credits;
    }

    /// Of a block, of flare-multiple.
    uint32_t GetBuffers() const
    {
        return m_buffers;
    }

    /// Of the values of a gradient, the share that is not 0.
    double GetDensity() const
    {
        return m_density;
    }

  private:
    uint32_t m_cores;
    Time m_handlerTime;
    Time m_copyTime;
    Time m_addTime;
    uint32_t m_buffers;
    uint32_t m_credits;
    double m_density;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FLARE_DRIVER_H
