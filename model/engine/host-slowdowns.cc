// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/host-slowdowns.h"

#include "ns3/time-range.h"

#include <utility>

namespace ns3::gradsync
{

void
HostSlowdowns::Set(uint32_t endpoint, std::function<double()> factor)
{
    if (factor)
    {
        m_factors[endpoint] = std::move(factor);
    }
    else
    {
        m_factors.erase(endpoint);
    }
}

Time
HostSlowdowns::Stretch(uint32_t endpoint, const Time& duration) const
{
    const auto found = m_factors.find(endpoint);
    if (found == m_factors.end() || duration.IsZero())
    {
        return duration;
    }
    const auto steps = static_cast<double>(duration.GetTimeStep()) * found->second();
    return TimeStep(static_cast<uint64_t>(ToTimeSteps(steps)));
}

void
HostSlowdowns::Clear()
{
    m_factors.clear();
}

} // namespace ns3::gradsync
