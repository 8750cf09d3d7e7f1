// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/workload-parts.h"

#include <algorithm>
#include <functional>

namespace ns3::gradsync
{

WorkloadParts::WorkloadParts(const Workload& workload,
                             std::vector<uint32_t> partOf,
                             double reduceSecondsPerByte)
    : m_workload(workload),
      m_partOf(std::move(partOf)),
      m_reduceSecondsPerByte(reduceSecondsPerByte)
{
}

bool
WorkloadParts::IsDivided(CommunicationId id) const
{
    const auto group = m_workload.GetGroup(id);
    return std::ranges::any_of(group, [&](uint32_t rank) {
        return m_partOf[rank] != m_partOf[group.front()];
    });
}

std::vector<uint32_t>
WorkloadParts::GetParts(CommunicationId id) const
{
    std::vector<uint32_t> parts;
    for (const auto rank : m_workload.GetGroup(id))
    {
        parts.push_back(m_partOf[rank]);
    }
    return parts;
}

const DistantEnds&
WorkloadParts::GetEnds(CommunicationId id)
{
    const auto& plan = *m_workload.GetPlan(id);
    auto parts = GetParts(id);
    auto& ends = m_ends[{&plan, parts}];
    if (!ends)
    {
        ends = std::make_unique<DistantEnds>(plan, std::move(parts), m_reduceSecondsPerByte, true);
    }
    return *ends;
}

std::optional<CommunicationId>
WorkloadParts::FindAgreed() const
{
    for (CommunicationId id = 0; id < m_workload.GetCommunications().size(); ++id)
    {
        const auto& task = m_workload.GetTasks()[m_workload.GetParts(id).front()];
        if (!m_workload.GetStreams()[task.stream].BeginsAlone() && IsDivided(id))
        {
            return id;
        }
    }
    return std::nullopt;
}

} // namespace ns3::gradsync
