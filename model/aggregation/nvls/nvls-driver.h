// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_NVLS_DRIVER_H
#define GRADSYNC_NVLS_DRIVER_H

#include "ns3/native-driver.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <memory>

namespace ns3::gradsync
{

/// NVLink SHARP: reduction and multicast in the NVSwitch between the accelerators of a server
/// (doc/aggregation.rst). Native only.
class NvlsDriver final : public NativeDriver
{
  public:
    static TypeId GetTypeId();

    NvlsDriver();

    bool HasFlow(AggregationFlow flow) const override;
    std::unique_ptr<AggregationSession> MakeSession(const AggregationGroup& group,
                                                    uint32_t id) override;
    std::unique_ptr<AggregationNode> MakeNode(NodeId node) override;
    void Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now) override;

    /// Requests of a root under way.
    uint32_t GetWindow() const
    {
        return m_window;
    }

  private:
    uint32_t m_window;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_NVLS_DRIVER_H
