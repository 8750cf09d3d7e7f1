// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FLARE_SESSION_H
#define GRADSYNC_FLARE_SESSION_H

#include "ns3/block-sum.h"
#include "ns3/flare-tensor.h"
#include "ns3/tree-worker-session.h"

#include <cstdint>
#include <memory>

namespace ns3::gradsync
{

class FlareDriver;

/// A group in FLARE.
class FlareSession final : public TreeWorkerSession
{
  public:
    FlareSession(FlareDriver& driver, const AggregationGroup& group, uint32_t id);

    void Open() override;

  private:
    Memory GetMemory(const SwitchTree::Hop& hop) const override;
    void TakeTree() override;
    void AddRole(AggregationNode& node, const AggregationRole& role) override;
    std::unique_ptr<AggregationTensor> MakeFloatTensor(
        const Shape& shape,
        const AggregationTensor::Shape& tensor) const override;
    SumOrder MakeOrder(uint32_t hop) const;

    FlareDriver& m_driver;
    FlareSum m_sum;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FLARE_SESSION_H
