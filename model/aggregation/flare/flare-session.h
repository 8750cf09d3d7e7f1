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
    void DivideSparse();
    std::unique_ptr<AggregationTensor> MakeTensor(
        const Shape& shape,
        const AggregationTensor::Shape& tensor) const override;
    SumOrder MakeOrder(uint32_t hop) const;

    FlareDriver& m_driver;
    FlareSum m_sum;
    uint32_t m_blockValues{0}; //!< of the gradient in a packet
    uint32_t m_entries{0};     //!< of these a worker has so many that are not 0; 0: dense
};

} // namespace ns3::gradsync

#endif // GRADSYNC_FLARE_SESSION_H
