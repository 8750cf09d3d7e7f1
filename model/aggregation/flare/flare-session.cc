// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/flare-session.h"

#include "ns3/aggregation-contents.h"
#include "ns3/flare-driver.h"
#include "ns3/flare-node.h"

#include <algorithm>

namespace ns3::gradsync
{

FlareSession::FlareSession(FlareDriver& driver, const AggregationGroup& group, uint32_t id)
    : TreeWorkerSession(driver, group, id),
      m_driver(driver),
      m_sum(FlareDriver::GetSum(group.protocol))
{
}

void
FlareSession::Open()
{
    FillJob({.valueCount = static_cast<uint16_t>(m_driver.GetValueCount()),
             .headerBytes = 0,
             .factor = 0.0F,
             .mostSent = {}});
    m_settings = {.credits = m_driver.GetCredits(),
                  .headerBytes = m_driver.GetHeaderBytes(),
                  .timeout = m_driver.GetTimeout(),
                  .silence = "no result of FLARE"};
    TakeTree();
    AddMembers();
}

void
FlareSession::TakeTree()
{
    BuildTree();
    if (auto* tensor = dynamic_cast<FlareTensor*>(m_job.tensor))
    {
        tensor->SetOrder(m_sum == FlareSum::Tree ? MakeOrder(0) : SumOrder());
    }
}

/// Of packets for which a contribution is missing a switch has at most as many as there are
/// credits: behind the first of these nobody sends more. Of as many others it keeps the sums.
TreeSession::Memory
FlareSession::GetMemory(const SwitchTree::Hop& hop) const
{
    const auto children = static_cast<uint32_t>(hop.children.size());
    uint32_t buffers = children;
    switch (m_sum)
    {
    case FlareSum::Single:
        buffers = 1;
        break;
    case FlareSum::Multiple:
        buffers = std::min(children, m_driver.GetBuffers());
        break;
    case FlareSum::Tree:
        break;
    }
    return {uint64_t{m_driver.GetCredits()} * (buffers + 1) * BYTES_PER_VALUE *
                m_driver.GetValueCount(),
            false};
}

void
FlareSession::AddRole(AggregationNode& node, const AggregationRole& role)
{
    static_cast<FlareNode&>(node).SetSum(GetNumber(), m_sum);
    TreeWorkerSession::AddRole(node, role);
}

std::unique_ptr<AggregationTensor>
FlareSession::MakeFloatTensor(const Shape& /* shape */,
                              const AggregationTensor::Shape& tensor) const
{
    const auto gradients = static_cast<size_t>(GetNetwork().settings.gradients);
    return std::make_unique<FlareTensor>(GetNumber(),
                                         tensor,
                                         GetGradientDistributions()[gradients]);
}

/// As the switches add, each in the order of its children.
SumOrder
FlareSession::MakeOrder(uint32_t hop) const
{
    SumOrder order;
    for (const auto& child : GetTree().hops[hop].children)
    {
        order.children.push_back(child.isMember ? SumOrder{.worker = child.index}
                                                : MakeOrder(child.index));
    }
    return order;
}

} // namespace ns3::gradsync
