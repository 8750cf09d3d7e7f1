// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/flare-session.h"

#include "ns3/aggregation-contents.h"
#include "ns3/flare-driver.h"
#include "ns3/flare-node.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

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
    m_blockValues = m_driver.GetValueCount();
    if (m_driver.GetDensity() < 1.0)
    {
        DivideSparse();
    }
    FillJob({.valueCount = static_cast<uint16_t>(m_blockValues),
             .headerBytes = 0,
             .factor = 0.0F,
             .mostSent = {}});
    m_job.isSparse = m_entries > 0;
    m_settings = {.credits = m_driver.GetCredits(),
                  .headerBytes = m_driver.GetHeaderBytes(),
                  .timeout = m_driver.GetTimeout(),
                  .silence = "no result of FLARE"};
    TakeTree();
    AddMembers();
}

/// So many entries for each worker, in blocks so large, that the sum of all has room in a packet,
/// however few of its places are those of several workers.
void
FlareSession::DivideSparse()
{
    constexpr uint32_t MOST_VALUES = UINT16_MAX;
    constexpr uint32_t NUMBERS = 2; // of an entry: index and value
    const auto workers = static_cast<uint32_t>(GetEndpoints()->size());
    m_entries = m_driver.GetValueCount() / NUMBERS / workers;
    if (m_entries == 0)
    {
        throw std::invalid_argument(
            fmt::format("a sparse sum of {} workers needs packets of {} bytes, but attribute "
                        "PayloadBytes is {}",
                        workers,
                        BYTES_PER_VALUE * NUMBERS * workers,
                        BYTES_PER_VALUE * m_driver.GetValueCount()));
    }
    const auto density = m_driver.GetDensity();
    m_entries = std::clamp(static_cast<uint32_t>(MOST_VALUES * density), 1U, m_entries);
    m_blockValues = static_cast<uint32_t>(std::min<double>(m_entries / density, MOST_VALUES));
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
    static_cast<FlareNode&>(node).SetUse(
        GetNumber(),
        {.sum = m_sum, .sparseValues = m_entries > 0 ? m_blockValues : 0});
    TreeWorkerSession::AddRole(node, role);
}

/// Sparse packets carry their entries even where nothing is checked, as sums depend on the places.
std::unique_ptr<AggregationTensor>
FlareSession::MakeTensor(const Shape& shape, const AggregationTensor::Shape& tensor) const
{
    const auto& settings = GetNetwork().settings;
    const bool addsFloats = settings.values == VALUES_FLOAT;
    if (!addsFloats && m_entries == 0)
    {
        return TreeWorkerSession::MakeTensor(shape, tensor);
    }
    return std::make_unique<FlareTensor>(
        GetNumber(),
        tensor,
        FlareTensor::Settings{
            .distribution = GetGradientDistributions()[static_cast<size_t>(settings.gradients)],
            .arithmetic = {.addsFloats = addsFloats, .isSparse = m_entries > 0},
            .entries = m_entries,
            .valueBits = settings.valueBits});
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
